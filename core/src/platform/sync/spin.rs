//! Spin locks, for several cores without an operating system.
#![forbid(unsafe_code)]

use core::num::NonZeroUsize;
pub use spin::mutex::{SpinMutex as Mutex, SpinMutex as Lock, SpinMutexGuard as MutexGuard};

/// Runs `body` in a critical section of the whole crate. `body` must be short, and must neither
/// take locks nor run user callbacks.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    static CRITICAL: Mutex<()> = Mutex::new(());
    let _guard = CRITICAL.lock();
    body()
}

/// Spins once before the caller polls again.
pub fn pause(_round: u32) {
    core::hint::spin_loop();
}

/// Returns `None`: this build cannot identify cores.
pub const fn current_thread() -> Option<NonZeroUsize> {
    None
}
