//! Spin locks, for several cores without an operating system.
#![forbid(unsafe_code)]

use core::num::NonZeroUsize;
pub use spin::mutex::SpinMutexGuard as MutexGuard;

/// A mutex that spins.
#[derive(Default)]
pub struct Mutex<T>(spin::mutex::SpinMutex<T>);

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self(spin::mutex::SpinMutex::new(value))
    }

    /// Waits until the mutex is free and locks it for the lifetime of the guard.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock()
    }
}

/// In this build, [`Lock`] and [`Mutex`] are the same type.
pub use self::Mutex as Lock;

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
