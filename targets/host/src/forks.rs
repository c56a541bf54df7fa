//! Fork handlers of this crate, in the order in which they run.

use ferrite_core::sync::fork::{AtFork, Ring, enlist};

use crate::{backtrace, dynamic_lib, thread_pool};

// Waits come before locks.
static PARTS: &[&dyn AtFork] = &[
    &dynamic_lib::LOADING_AT_FORK,
    &backtrace::WALKS_AT_FORK,
    &thread_pool::WORKERS_AT_FORK,
    &thread_pool::AFFINITY,
    &dynamic_lib::STORED_CONTEXTS,
];

ferrite_core::at_load!(install);

/// Registers fork handlers: a fork waits for operations that take several steps, and holds the locks of all rings. Where
/// objects can have constructors, this happens when the program or library that contains this crate is loaded.
///
/// # Threads
/// Callable from any thread; later calls change nothing.
pub fn install() {
    ferrite_core::forks::install();
    ferrite_alloc_ext::forks::install();
    enlist(Ring::Host, PARTS);
}
