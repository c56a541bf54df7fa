//! Identity of the process, by which forks are detected: workers belong to one process, and do not
//! exist in a forked child.

use ferrite_core::platform::sync::atomic::{AtomicU32, Ordering};

static FORKS: AtomicU32 = AtomicU32::new(0);

/// Returns the identity of the process, a number that differs between a child process and its
/// parent.
pub(super) fn current() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// Changes the identity. Called in a new child process, which has a single thread.
pub(super) fn forked() {
    FORKS.store(current().wrapping_add(1), Ordering::Relaxed);
}
