//! Locks for bare metal that mask interrupts, using the `critical-section` crate.

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::num::NonZeroUsize;
use core::ops::{Deref, DerefMut};

use critical_section::RestoreState;

use crate::platform::hooks;

/// A mutex whose value is only accessible in a critical section.
///
/// Locking it again while it is held would alias exclusive references. It deadlocks instead, like
/// the other implementations.
#[derive(Default)]
pub struct Mutex<T> {
    held: Cell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: `held` and `value` are only accessed in a critical section, which admits one execution at
// a time.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex around `value`.
    pub const fn new(value: T) -> Self {
        Self { held: Cell::new(false), value: UnsafeCell::new(value) }
    }

    /// Enters a critical section for the lifetime of the guard. Guards must be dropped in the
    /// reverse order of locking.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // SAFETY: the returned guard leaves exactly once; guards are locals of short functions and
        // so end in reverse order.
        MutexGuard { mutex: self, restore: unsafe { enter(&self.held) }, _not_sync: PhantomData }
    }
}

/// Enters a critical section and marks a mutex as locked. Shared by all mutexes.
///
/// # Safety
/// Same requirements as [`critical_section::acquire`]; [`leave`] follows, in the reverse order.
#[inline(never)]
unsafe fn enter(held: &Cell<bool>) -> RestoreState {
    // SAFETY: the caller's promise.
    let restore = unsafe { critical_section::acquire() };
    while held.replace(true) {
        core::hint::spin_loop();
    }
    restore
}

/// Marks a mutex as unlocked and leaves the critical section that [`enter`] entered.
///
/// # Safety
/// `restore` came from the matching `enter`.
#[inline(never)]
unsafe fn leave(held: &Cell<bool>, restore: RestoreState) {
    held.set(false);
    // SAFETY: the caller's promise.
    unsafe { critical_section::release(restore) };
}

/// Exclusive access to the value of a [`Mutex`].
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    restore: RestoreState,
    /// Makes the guard `Sync` only if the value is, and never `Send`: the thread that entered a
    /// critical section must leave it.
    _not_sync: PhantomData<*const T>,
}

// SAFETY: a shared guard gives shared references to the value.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is in the critical section, and `held` excludes other guards.
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
        // SAFETY: `restore` came from `enter`.
        unsafe { leave(&self.mutex.held, self.restore) };
    }
}

/// A lock whose value is only accessible in a critical section, by shared references.
///
/// Locking it again while it is held returns another shared reference, which is harmless, so the
/// lock needs no flag.
pub struct Lock<T>(T);

// SAFETY: the value is only accessed in a critical section, which admits one execution at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// Creates an unlocked lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Enters a critical section for the lifetime of the guard. Guards must be dropped in the
    /// reverse order of locking.
    pub fn lock(&self) -> LockGuard<'_, T> {
        // SAFETY: as for `Mutex`.
        LockGuard { value: &self.0, restore: unsafe { critical_section::acquire() } }
    }
}

/// Shared access to the value of a [`Lock`].
pub struct LockGuard<'a, T> {
    value: &'a T,
    restore: RestoreState,
}

impl<T> Deref for LockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> Drop for LockGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `restore` came from entering the critical section.
        unsafe { critical_section::release(self.restore) };
    }
}

/// Runs `body` with interrupts masked. `body` must be short and must not run user callbacks. Calls
/// may be nested.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    critical_section::with(|_| body())
}

/// Yields to other tasks before the caller polls again.
pub fn pause(_round: u32) {
    hooks::yield_now();
}

/// Identifies the current task by the address of its raised-error slot. Without tasks the address
/// is constant: a lock can only be held by the code that the caller interrupted, so the caller must
/// not wait for it.
pub fn current_thread() -> Option<NonZeroUsize> {
    NonZeroUsize::new(hooks::raised_slot().addr())
}
