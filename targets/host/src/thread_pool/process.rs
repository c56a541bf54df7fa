//! Which process this is: workers are threads of one process, and a forked child has none of them.

use ferrite_core::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

/// A number that differs in a child process from that of its parent.
pub(super) fn current() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Notes that this is a new child process, with one thread.
pub(super) fn forked() {
    FORKS.store(current().wrapping_add(1), Ordering::Relaxed);
}
