//! The state of this crate that must be at rest during a fork, in the order in which it is prepared.

use ferrite_core::sync::fork::{AtFork, Ring, enlist};

use crate::{backtrace, dynamic_lib, thread_pool};

// What waits for others comes before the locks.
static PARTS: &[&dyn AtFork] = &[
    &dynamic_lib::LOADING_AT_FORK,
    &backtrace::WALKS_AT_FORK,
    &thread_pool::WORKERS_AT_FORK,
    &thread_pool::AFFINITY,
    &dynamic_lib::PUBLISHED,
];

ferrite_core::at_load!(install);

/// Makes forks wait for what this crate does in several steps, and hold the locks of all rings. Happens by itself when the program
/// or library with this crate is loaded, where objects can have constructors.
///
/// # Threads
/// Any; calling it again changes nothing.
pub fn install() {
    ferrite_core::forks::install();
    ferrite_alloc_ext::forks::install();
    enlist(Ring::Host, PARTS);
}
