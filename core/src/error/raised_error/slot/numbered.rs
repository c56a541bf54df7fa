//! The slot on hosts: errors are numbered in the order in which they are raised, so that a failed call can tell its own error from
//! an earlier one that nobody took.

use core::ptr;

use crate::abi::TVMFFIObject;
use crate::platform::sync::atomic::{AtomicUsize, Ordering};
use crate::platform::sync::per_thread;

/// Number of the error that any thread raised last. Numbers wrap around.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// A point in time, which lies between the errors that were raised before it and those raised after it.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Mark {
    /// Returns the current point in time. Costs one load.
    #[inline(always)]
    pub fn now() -> Mark {
        Mark(LAST.load(Ordering::Relaxed))
    }

    /// Returns whether this thread's last error was raised after this point in time. `None` in builds that cannot tell.
    pub fn precedes_raised(self) -> Option<bool> {
        let number = per_thread::with_numbered_raised(|_, number| number.get());
        // The thread read its own numbers in order, so an earlier error has a number of at most the mark's.
        Some(number.wrapping_sub(self.0).cast_signed() > 0)
    }
}

/// Gives this thread's last error the next number.
pub(super) fn number_next() {
    per_thread::with_numbered_raised(|_, number| number.set(next()));
}

#[inline(always)]
fn next() -> usize {
    LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
}

/// Stores an error in the slot of this thread if it is empty. Otherwise empties the slot and returns its error.
pub(super) fn store(raised: *mut TVMFFIObject) -> *mut TVMFFIObject {
    per_thread::with_numbered_raised(|slot, number| {
        number.set(next());
        let stale = slot.get();
        slot.set(if stale.is_null() { raised } else { ptr::null_mut() });
        stale
    })
}
