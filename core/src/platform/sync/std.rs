//! Locks and waiting on hosts, implemented with the standard library.
#![forbid(unsafe_code)]

extern crate std;

use core::num::NonZeroUsize;
pub use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use super::across_fork::AcrossFork;

/// A mutex that stays usable after its holder panicked, since guarded state changes in single steps
/// only. Every static mutex is listed in `forks.rs` of its crate, so that it is held across forks.
pub struct Mutex<T: 'static> {
    inner: std::sync::Mutex<T>,
    pub(super) across_fork: AcrossFork<MutexGuard<'static, T>>,
}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { inner: std::sync::Mutex::new(value), across_fork: AcrossFork::new() }
    }

    /// Waits until the mutex is free and locks it for the lifetime of the guard.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// On hosts, [`Lock`] and [`Mutex`] are the same type.
pub use self::Mutex as Lock;

pub(crate) static CRITICAL: Mutex<()> = Mutex::new(());

/// Runs `body` in a critical section of the whole crate. `body` must be short, and must neither
/// take locks nor run user callbacks.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    let _guard = CRITICAL.lock();
    body()
}

/// Yields to other threads before the caller polls again; waits longer as `round` grows.
pub fn pause(round: u32) {
    match round {
        0..16 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(u64::from(round.min(1_000)))),
    }
}

/// Identifies the current thread among living threads. Returns `None` while its thread-local
/// storage is being destroyed.
pub fn current_thread() -> Option<NonZeroUsize> {
    std::thread_local!(static HERE: u8 = const { 0 });
    HERE.try_with(|here| core::ptr::from_ref(here).addr()).ok().and_then(NonZeroUsize::new)
}
