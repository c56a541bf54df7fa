//! Spin locks on a flag, for builds without std, `spin` and interrupts: WebAssembly, `no_std` libraries.
//!
//! WebAssembly without threads never waits. Elsewhere waiting spins, for a short time.

use super::atomic::{AtomicBool, Ordering};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::num::NonZeroUsize;
use core::ops::{Deref, DerefMut};

/// A mutex that spins on one flag.
#[derive(Default)]
pub struct Mutex<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `value` is only accessed through the guard, and `held` admits one guard.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Makes an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits for exclusive access, which lasts as long as the guard.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        while self.held.swap(true, Ordering::Acquire) {
            core::hint::spin_loop();
        }
        MutexGuard { mutex: self, _not_sync: PhantomData }
    }
}

/// Exclusive access to the value of a [`Mutex`].
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// Prevents sharing the guard between threads where the value must not be shared.
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

/// This build has one kind of lock.
pub use self::Mutex as Lock;

/// Runs `body` in a critical section of the whole crate. `body` must be short and neither lock nor call out.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    static CRITICAL: Mutex<()> = Mutex::new(());
    let _guard = CRITICAL.lock();
    body()
}

/// Waits before the caller polls again.
pub fn pause(_round: u32) {
    core::hint::spin_loop();
}

/// Identifies the current thread; always `None`, since this build cannot tell threads apart.
pub const fn current_thread() -> Option<NonZeroUsize> {
    None
}
