//! Registration of this crate's fork handlers.

use ferrite_core::platform::sync::fork::{AtFork, Ring, enlist};

use crate::{backtrace, dynamic_lib, thread_pool};

/// Fork handlers of this crate, in the order in which they prepare for a fork. Handlers that wait
/// for operations come before those that take locks.
static PARTS: &[&dyn AtFork] = &[
    &dynamic_lib::LOADING_AT_FORK,
    &backtrace::WALKS_AT_FORK,
    &thread_pool::WORKERS_AT_FORK,
    &thread_pool::AFFINITY,
    &dynamic_lib::STORED_CONTEXTS,
];

ferrite_core::at_load!(install);

/// Registers the fork handlers of all rings. With them, a fork waits for operations in progress,
/// and holds the locks of the library, so that the child finds consistent state. On platforms with
/// load-time constructors, this runs when the program or library that contains this crate is
/// loaded.
///
/// # Threads
/// May be called from any thread. Later calls have no effect.
pub fn install() {
    ferrite_core::forks::install();
    ferrite_alloc_ext::forks::install();
    enlist(Ring::Host, PARTS);
}
