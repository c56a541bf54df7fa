//! Identity of the process: workers belong to one process, and a forked child has none of them.

use ferrite_core::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns a number that differs between a child process and its parent.
pub(super) fn current() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Registers that this is a new child process, with a single thread.
pub(super) fn forked() {
    FORKS.store(current().wrapping_add(1), Ordering::Relaxed);
}
