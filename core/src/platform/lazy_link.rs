//! Lazily linked code: a slot for a static record of functions, which only the code that needs them
//! sets.
//!
//! Microcontroller builds reach rarely needed code only through such a slot, so the linker drops
//! the code from programs that never set it.

use core::hint::black_box;
use core::ptr;

use crate::platform::sync::atomic::{AtomicPtr, Ordering};

/// A slot for a static record of functions, initially empty.
pub(crate) struct LazyLink<T: Sync + 'static>(AtomicPtr<T>);

impl<T: Sync> LazyLink<T> {
    /// Creates an empty slot.
    pub(crate) const fn new() -> Self {
        LazyLink(AtomicPtr::new(ptr::null_mut()))
    }

    /// Sets or clears the record.
    pub(crate) fn set(&self, record: Option<&'static T>) {
        let record = record.map_or(ptr::null_mut(), |record| ptr::from_ref(record).cast_mut());
        // Opaque: a compiler that knew the only possible record would call its functions directly,
        // and so link them.
        self.0.store(black_box(record), Ordering::Release);
    }

    /// Returns the record, if set.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or derived from a static reference.
        unsafe { self.0.load(Ordering::Acquire).cast_const().as_ref() }
    }
}
