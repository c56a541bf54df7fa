//! Fallible owned heap values, like `Box`.

use core::alloc::Layout;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::platform::memory;

/// Owned heap value at a stable address.
pub(crate) struct Owned<T>(NonNull<T>);

// SAFETY: the value has a single owner.
unsafe impl<T: Send> Send for Owned<T> {}
// SAFETY: a shared `Owned` shares its value.
unsafe impl<T: Sync> Sync for Owned<T> {}

impl<T> Owned<T> {
    /// Moves a value to the heap.
    ///
    /// # Errors
    /// MemoryError; the value is dropped.
    pub(crate) fn new(value: T) -> Result<Owned<T>> {
        let layout = Layout::new::<T>();
        let Some(block) = memory::allocate(layout) else {
            return Err(out_of_memory(layout.size()));
        };
        let pointer = block.cast::<T>();
        // SAFETY: the block is new and has the layout of the value.
        unsafe { pointer.write(value) };
        Ok(Owned(pointer))
    }

    /// Releases ownership and returns the pointer.
    pub(crate) fn into_raw(self) -> NonNull<T> {
        core::mem::ManuallyDrop::new(self).0
    }

    /// Takes ownership of a pointer from [`into_raw`](Owned::into_raw).
    ///
    /// # Safety
    /// The pointer must come from [`into_raw`](Owned::into_raw), and must be passed at most once.
    pub(crate) unsafe fn from_raw(value: NonNull<T>) -> Owned<T> {
        Owned(value)
    }
}

impl<T> Deref for Owned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the block contains the value until this is dropped.
        unsafe { self.0.as_ref() }
    }
}

impl<T> DerefMut for Owned<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`, and the value has a single owner.
        unsafe { self.0.as_mut() }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the value is owned, and not used afterwards.
        unsafe {
            self.0.drop_in_place();
            memory::release(self.0.cast(), Layout::new::<T>());
        }
    }
}
