//! Spinning locks, for several cores without an operating system.
#![forbid(unsafe_code)]

use core::num::NonZeroUsize;
pub use spin::mutex::{SpinMutex as Mutex, SpinMutex as Lock, SpinMutexGuard as MutexGuard};

/// Runs `body`, which is short and neither locks nor calls out, while no other core runs one.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    static CRITICAL: Mutex<()> = Mutex::new(());
    let _guard = CRITICAL.lock();
    body()
}

/// Lets the other core make progress before the caller looks again.
pub fn pause(_round: u32) {
    core::hint::spin_loop();
}

/// A number that no other core has; always `None`, since this build cannot tell cores apart.
pub const fn current_thread() -> Option<NonZeroUsize> {
    None
}
