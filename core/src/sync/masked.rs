//! Locks that mask interrupts through the `critical-section` crate, for boards.

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::num::NonZeroUsize;
use core::ops::{Deref, DerefMut};

use critical_section::RestoreState;

use crate::platform;

/// A value that is only reachable inside a critical section.
///
/// Locking it again while it is held would give two exclusive references; it waits for ever instead, as the other
/// twins do.
#[derive(Default)]
pub struct Mutex<T> {
    held: Cell<bool>,
    value: UnsafeCell<T>,
}

// SAFETY: `held` and `value` are only touched inside a critical section, which admits one execution at a time.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// A mutex around `value`, unlocked.
    pub const fn new(value: T) -> Self {
        Self { held: Cell::new(false), value: UnsafeCell::new(value) }
    }

    /// Enters a critical section, which lasts as long as the guard. Guards end in the reverse order of locking.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        // SAFETY: the guard that is returned leaves exactly once; guards are locals of short functions and so end
        // in reverse order.
        MutexGuard { mutex: self, restore: unsafe { enter(&self.held) }, _not_sync: PhantomData }
    }
}

/// Enters a critical section and marks a mutex as held. Once for all of them.
///
/// # Safety
/// As for [`critical_section::acquire`]: [`leave`] follows, in the reverse order.
#[inline(never)]
unsafe fn enter(held: &Cell<bool>) -> RestoreState {
    // SAFETY: the caller's promise.
    let restore = unsafe { critical_section::acquire() };
    while held.replace(true) {
        core::hint::spin_loop();
    }
    restore
}

/// Ends what [`enter`] began.
///
/// # Safety
/// `restore` is what the matching `enter` gave.
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
    /// A reference to the mutex may go to other threads where a reference to the value may not. Nor does a guard go: who
    /// enters a critical section leaves it.
    _not_sync: PhantomData<*const T>,
}

// SAFETY: a shared guard gives shared references to the value.
unsafe impl<T: Sync> Sync for MutexGuard<'_, T> {}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the critical section is this guard's and `held` keeps others out.
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
        // SAFETY: `restore` is what `enter` gave.
        unsafe { leave(&self.mutex.held, self.restore) };
    }
}

/// A value that is only reachable inside a critical section, by shared references.
///
/// Locking it again while it is held gives one more such reference, which harms nothing: no mark is needed.
pub struct Lock<T>(T);

// SAFETY: the value is only reached inside a critical section, which admits one execution at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Enters a critical section, which lasts as long as the guard. Guards end in the reverse order of locking.
    pub fn lock(&self) -> LockGuard<'_, T> {
        // SAFETY: as for `Mutex`.
        LockGuard { value: &self.0, restore: unsafe { critical_section::acquire() } }
    }
}

/// Access to the value of a [`Lock`].
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
        // SAFETY: `restore` is what entering gave.
        unsafe { critical_section::release(self.restore) };
    }
}

/// Runs `body`, which is short and does not call out, with interrupts masked. May be nested.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    critical_section::with(|_| body())
}

/// Waits before the caller looks again.
pub fn pause(_round: u32) {
    platform::yield_now();
}

/// The address of the task's slot of the raised error. Without tasks it is the same always: whatever else runs was interrupted
/// by the caller, which must not wait for it.
pub fn current_thread() -> Option<NonZeroUsize> {
    NonZeroUsize::new(platform::raised_slot().addr())
}
