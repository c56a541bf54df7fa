//! Guards of borrows of the content of an object.

use core::ops::{Deref, DerefMut};

use crate::error::Result;
use crate::object::borrow::{claim, share, unclaim, unshare};

use super::{Mutable, Object, ObjectArc};

/// Shared access to the content of an object.
pub struct ObjectBorrow<'a, T: Object> {
    object: &'a ObjectArc<T>,
}

/// Exclusive access to the content of an object.
pub struct ObjectBorrowMut<'a, T: Object> {
    object: &'a ObjectArc<T>,
}

impl<T: Object> ObjectArc<T> {
    /// Borrows the content for reading.
    ///
    /// # Errors
    /// RuntimeError while the content is borrowed exclusively, by a `&mut self` method that is
    /// running or by [`borrow_mut`](ObjectArc::borrow_mut).
    pub fn borrow(&self) -> Result<ObjectBorrow<'_, T>> {
        // SAFETY: the reference keeps the object alive.
        unsafe { share(self.as_object().as_ptr())? };
        Ok(ObjectBorrow { object: self })
    }

    /// Borrows the content for writing.
    ///
    /// # Errors
    /// RuntimeError while the content is borrowed, by a method that is running, by
    /// [`borrow`](ObjectArc::borrow) or by this function.
    pub fn borrow_mut(&self) -> Result<ObjectBorrowMut<'_, T>>
    where
        T: Mutable,
    {
        // SAFETY: the reference keeps the object alive.
        unsafe { claim(self.as_object().as_ptr())? };
        Ok(ObjectBorrowMut { object: self })
    }
}

impl<T: Object> Deref for ObjectBorrow<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the shared borrow excludes exclusive ones, and the reference keeps the object
        // alive.
        unsafe { &*self.object.content_ptr() }
    }
}

impl<T: Object> Deref for ObjectBorrowMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the exclusive borrow excludes all others, and the reference keeps the object
        // alive.
        unsafe { &*self.object.content_ptr() }
    }
}

impl<T: Object> DerefMut for ObjectBorrowMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the guard itself is borrowed exclusively.
        unsafe { &mut *self.object.content_ptr() }
    }
}

impl<T: Object> Drop for ObjectBorrow<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard has the borrow, and its reference keeps the object alive.
        unsafe { unshare(self.object.as_object().as_ptr()) };
    }
}

impl<T: Object> Drop for ObjectBorrowMut<'_, T> {
    fn drop(&mut self) {
        // SAFETY: this guard has the borrow, and its reference keeps the object alive.
        unsafe { unclaim(self.object.as_object().as_ptr()) };
    }
}
