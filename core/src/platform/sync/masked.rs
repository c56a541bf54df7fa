//! Locks for bare metal that mask interrupts, using the `critical-section` crate.
//!
//! There are no guards. Safe code could drop guards in any order, also within a critical section of
//! other code, and each guard would restore the interrupt mask that it found: interrupts would come
//! in the middle of a section, or never again. Sections of closures end in reverse order.

use core::cell::{Cell, UnsafeCell};
use core::num::NonZeroUsize;

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

    /// Calls `body` with the value, in a critical section. Returns its result.
    #[inline(always)]
    pub fn with_mut<R>(&self, body: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the section ends here, after those that `body` began; `held` excludes other
        // references in it.
        unsafe {
            let restore = enter(&self.held);
            let result = body(&mut *self.value.get());
            leave(&self.held, restore);
            result
        }
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
/// `restore` must come from the matching `enter`.
#[inline(never)]
unsafe fn leave(held: &Cell<bool>, restore: RestoreState) {
    held.set(false);
    // SAFETY: the caller's promise.
    unsafe { critical_section::release(restore) };
}

/// A lock whose value is only accessible in a critical section, by shared references.
///
/// Locking it again while it is held gives another shared reference, which is harmless, so the lock
/// needs no flag.
pub struct Lock<T>(T);

// SAFETY: the value is only accessed in a critical section, which admits one execution at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// Creates an unlocked lock around `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Calls `body` with the value, in a critical section. Returns its result.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&T) -> R) -> R {
        section(|| body(&self.0))
    }
}

/// Runs `body` with interrupts masked. `body` must be short and must not run user callbacks. Calls
/// may be nested.
pub fn critical<R>(body: impl FnOnce() -> R) -> R {
    section(body)
}

/// Runs `body` in a critical section. A panic ends the program.
#[inline(always)]
fn section<R>(body: impl FnOnce() -> R) -> R {
    // SAFETY: the section ends here, after those that `body` began.
    unsafe {
        let restore = critical_section::acquire();
        let result = body();
        critical_section::release(restore);
        result
    }
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
