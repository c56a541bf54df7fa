//! Code that only the programs which need it link: a record that is unset until such code has run once.
//!
//! Boards reach rarely needed code through such a record. Nothing else leads there, so that the linker drops it from programs
//! that never do what sets the record.

use core::hint::black_box;
use core::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// A place for a static record, or for none.
pub(crate) struct LazyLink<T: Sync + 'static>(AtomicPtr<T>);

impl<T: Sync> LazyLink<T> {
    /// A place without a record.
    pub(crate) const fn new() -> Self {
        LazyLink(AtomicPtr::new(ptr::null_mut()))
    }

    /// Puts a record in, or takes it out.
    pub(crate) fn set(&self, record: Option<&'static T>) {
        let record = record.map_or(ptr::null_mut(), |record| ptr::from_ref(record).cast_mut());
        // A compiler that sees all that is ever set calls it by its name, and so links it.
        self.0.store(black_box(record), Ordering::Release);
    }

    /// The record, if there is one.
    #[inline]
    pub(crate) fn get(&self) -> Option<&'static T> {
        // SAFETY: null, or made of a static reference.
        unsafe { self.0.load(Ordering::Acquire).cast_const().as_ref() }
    }
}
