//! Values that are set once, without a lock. A fork at any moment leaves such a cell empty or
//! complete.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::error::Result;

use crate::owned::Owned;

/// A cell for a value that never changes once it is set.
pub struct SetOnce<T>(AtomicPtr<T>);

impl<T: Send + Sync> SetOnce<T> {
    /// Creates an empty cell.
    pub(crate) const fn new() -> SetOnce<T> {
        SetOnce(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the value; `None` if it is not set.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: null, or a value that `set` stored, which lives as long as the cell.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the value and returns it. If another thread has set one, drops `value` and returns the
    /// other one.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn set(&self, value: T) -> Result<&T> {
        let new = Owned::new(value)?.into_raw();
        match self.0.compare_exchange(
            ptr::null_mut(),
            new.as_ptr(),
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            // SAFETY: the cell owns the value from now on.
            Ok(_) => Ok(unsafe { new.as_ref() }),
            Err(other) => {
                // SAFETY: the new value is not shared; the other one lives as long as the cell.
                unsafe {
                    drop(Owned::from_raw(new));
                    Ok(&*other)
                }
            }
        }
    }
}

impl<T> Drop for SetOnce<T> {
    fn drop(&mut self) {
        if let Some(value) = NonNull::new(*self.0.get_mut()) {
            // SAFETY: `set` transferred the ownership, and no other reference is left.
            drop(unsafe { Owned::from_raw(value) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_first_value_stays_and_every_value_is_dropped() -> Result<()> {
        let (first, second) = (Arc::new(1), Arc::new(2));
        let cell = SetOnce::new();
        assert!(cell.get().is_none());
        assert_eq!(**cell.set(first.clone())?, 1);
        assert_eq!(**cell.set(second.clone())?, 1);
        assert_eq!(cell.get().map(|value| **value), Some(1));
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
        drop(cell);
        assert_eq!(Arc::strong_count(&first), 1);
        Ok(())
    }
}
