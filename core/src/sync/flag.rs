//! A lock of one flag, for builds that have neither std, `spin` nor interrupts: WebAssembly, `no_std` libraries.
//!
//! WebAssembly without threads never waits on it. Elsewhere waiting spins, and the holder is never long.

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

// SAFETY: `value` is only touched by the guard, of which `held` admits one.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// A mutex around `value`, unlocked.
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
    /// A reference to the mutex may go to other threads where a reference to the value may not.
    _not_sync: PhantomData<*const T>,
}

// SAFETY: a shared guard gives shared references to the value.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `held` is this guard's, so nobody else has a reference.
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

/// There is one kind of lock.
pub use self::Mutex as Lock;

/// Runs `body`, which is short and neither locks nor calls out, while nobody else runs one.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    static CRITICAL: Mutex<()> = Mutex::new(());
    let _guard = CRITICAL.lock();
    body()
}

/// Waits before the caller looks again.
pub fn pause(_round: u32) {
    core::hint::spin_loop();
}

/// A number that no other thread has; always `None`, since this build cannot tell threads apart.
pub const fn current_thread() -> Option<NonZeroUsize> {
    None
}
