//! Lazily linked code: a record of functions that stays unset until code that needs it has run.
//!
//! Microcontroller builds reach rarely needed code only through such a record, so the linker drops it from programs
//! that never set the record.

use core::hint::black_box;
use core::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// A slot for a static record, initially empty.
pub(crate) struct LazyLink<T: Sync + 'static>(AtomicPtr<T>);

impl<T: Sync> LazyLink<T> {
    /// Makes an empty slot.
    pub(crate) const fn new() -> Self {
        LazyLink(AtomicPtr::new(ptr::null_mut()))
    }

    /// Sets or clears the record.
    pub(crate) fn set(&self, record: Option<&'static T>) {
        let record = record.map_or(ptr::null_mut(), |record| ptr::from_ref(record).cast_mut());
        // Opaque: a compiler that knew the only possible record would call its functions directly, and so link them.
        self.0.store(black_box(record), Ordering::Release);
    }

    /// Returns the record, if set.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or derived from a static reference.
        unsafe { self.0.load(Ordering::Acquire).cast_const().as_ref() }
    }
}
