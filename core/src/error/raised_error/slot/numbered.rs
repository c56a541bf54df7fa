//! The slot on hosts: errors are numbered in the order in which they are raised, so that a failed
//! call can tell its own error from an earlier one that was not taken.

extern crate std;

use core::cell::Cell;
use core::ptr;

use crate::abi::TVMFFIObject;
use crate::object::release::release_object;
use crate::platform::sync::atomic::{AtomicUsize, Ordering};
use crate::platform::sync::per_thread::at_end::AtEnd;

/// Number of the error that any thread raised last. Numbers wrap around.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// A point in time, which lies between the errors that were raised before it and those raised after
/// it.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Mark {
    /// Returns the current point in time. Costs one load.
    #[inline(always)]
    pub fn now() -> Mark {
        Mark(LAST.load(Ordering::Relaxed))
    }

    /// Returns `true` if this thread's last error was raised after this point in time. Returns
    /// `None` in builds that do not number errors.
    pub fn precedes_raised(self) -> Option<bool> {
        let number = with_numbered_raised(|_, number| number.get());
        // The thread read its own numbers in order, so an earlier error has a number of at most the
        // mark's.
        Some(number.wrapping_sub(self.0).cast_signed() > 0)
    }
}

/// Gives this thread's last error the next number.
pub(super) fn number_next() {
    with_numbered_raised(|_, number| number.set(next()));
}

#[inline(always)]
fn next() -> usize {
    LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
}

/// Stores an error in the slot of this thread if it is empty. Otherwise empties the slot and
/// returns its error.
pub(super) fn store(raised: *mut TVMFFIObject) -> *mut TVMFFIObject {
    with_numbered_raised(|slot, number| {
        number.set(next());
        let stale = slot.get();
        slot.set(if stale.is_null() { raised } else { ptr::null_mut() });
        stale
    })
}

/// Slot for the raised error of a thread. Its error is released when the thread ends.
struct RaisedSlot {
    error: Cell<*mut TVMFFIObject>,
    /// Number of the error that the thread raised last, which is not necessarily in the slot any
    /// more.
    number: Cell<usize>,
    at_end: AtEnd,
}

impl RaisedSlot {
    /// Releases the error of an ending thread. Later destructors may raise others.
    ///
    /// # Safety
    /// `slot` must be the address of the slot of this thread.
    unsafe fn release(slot: *const ()) {
        // SAFETY: the caller's promise.
        let slot = unsafe { &*slot.cast::<RaisedSlot>() };
        slot.at_end.renew();
        let error = slot.error.replace(ptr::null_mut());
        if !error.is_null() {
            // SAFETY: the slot's strong reference was taken out of it.
            unsafe { release_object(error) };
        }
    }
}

std::thread_local! {
    // Without a destructor for std, so that it works while other thread-local values are being
    // destroyed.
    static RAISED: RaisedSlot =
        const { RaisedSlot { error: Cell::new(ptr::null_mut()), number: Cell::new(0), at_end: AtEnd::new(RaisedSlot::release) } };
}

/// Runs `body` with access to the slot of this thread's raised error. The slot is null or owns a
/// strong reference.
///
/// If there is no memory to register the slot, or the thread has run its destructors, an error that
/// is not taken is never released.
#[inline]
pub(super) fn with_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>) -> R) -> R {
    with_numbered_raised(|slot, _| body(slot))
}

/// Runs `body` with access to the slot of this thread's raised error, as [`with_raised`] does, and
/// to the number of the error that the thread raised last, initially 0.
#[inline]
fn with_numbered_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>, &Cell<usize>) -> R) -> R {
    RAISED.with(|slot| {
        // SAFETY: the slot is in a thread-local without a destructor, and `release` accepts its
        // address.
        unsafe { slot.at_end.is_registered(ptr::from_ref(slot).cast()) };
        body(&slot.error, &slot.number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raised_slot_starts_empty() {
        assert!(with_raised(|slot| slot.get()).is_null());
    }
}
