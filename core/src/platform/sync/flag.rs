//! Spin locks based on an atomic flag, for builds without std, `spin` and `critical-section`:
//! WebAssembly, and libraries built with `no_std`.
//!
//! On WebAssembly without threads a lock is never contended: one that is held stays held for ever,
//! see `wait`. Elsewhere waiting threads spin for a short time.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::num::NonZeroUsize;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// A mutex that spins on an atomic flag.
#[derive(Default)]
pub struct Mutex<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is only accessed through the guard, and `held` admits one guard.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until the mutex is free and locks it for the lifetime of the guard.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        while self.held.swap(true, Ordering::Acquire) {
            wait();
        }
        MutexGuard { mutex: self, _not_sync: PhantomData }
    }
}

/// Traps: without threads, the holder is a call that an exception of JavaScript ended, such as the
/// end of its stack. Spinning would hang the page.
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
fn wait() {
    core::arch::wasm32::unreachable();
}

/// Spins once before the caller tries again.
#[cfg(not(all(target_arch = "wasm32", not(target_feature = "atomics"))))]
fn wait() {
    core::hint::spin_loop();
}

/// Exclusive access to the value of a [`Mutex`].
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// Makes the guard `Sync` only if the value is.
    _not_sync: PhantomData<*const T>,
}

// SAFETY: a shared guard gives shared references to the value.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard holds the lock, so no other reference exists.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as `deref`, through an exclusive guard.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.held.store(false, Ordering::Release);
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

/// Returns `None`: this build cannot identify threads.
pub const fn current_thread() -> Option<NonZeroUsize> {
    None
}
