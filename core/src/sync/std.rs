//! Locks and waiting of the standard library, for hosts.
#![forbid(unsafe_code)]

extern crate std;

use core::num::NonZeroUsize;
pub use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use super::fork::AcrossFork;

/// A mutex that a panicking holder leaves usable: what it guards is changed in single steps only. Every static one is listed in
/// `forks.rs` of its crate, so that forks hold it.
pub struct Mutex<T: 'static> {
    inner: std::sync::Mutex<T>,
    pub(super) across_fork: AcrossFork<T>,
}

impl<T> Mutex<T> {
    /// A mutex around `value`, unlocked.
    pub const fn new(value: T) -> Self {
        Self { inner: std::sync::Mutex::new(value), across_fork: AcrossFork::new() }
    }

    /// Waits for exclusive access, which lasts as long as the guard.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// Hosts have one kind of lock.
pub use self::Mutex as Lock;

pub(crate) static CRITICAL: Mutex<()> = Mutex::new(());

/// Runs `body`, which is short and neither locks nor calls out, while no other thread runs one.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    let _guard = CRITICAL.lock();
    body()
}

/// Lets others run before the caller looks again; longer when `round` counts more calls in a row.
pub fn pause(round: u32) {
    match round {
        0..16 => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(u64::from(round.min(1_000)))),
    }
}

/// A number that no other living thread has; `None` when this build cannot tell threads apart.
pub fn current_thread() -> Option<NonZeroUsize> {
    std::thread_local!(static HERE: u8 = const { 0 });
    HERE.try_with(|here| core::ptr::from_ref(here).addr()).ok().and_then(NonZeroUsize::new)
}
