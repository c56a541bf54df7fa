//! Weak references, which keep the memory of an object allocated but do not keep its content alive.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::abi::TVMFFIObject;
use crate::object::{ObjectClass, ObjectRef, refcount, release};

/// A weak reference to an object of class `T`.
///
/// # Examples
/// ```
/// use ferrite_core::object::weak::WeakObjectRef;
/// use ferrite_core::Shape;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let shape = Shape::from_slice(&[2, 3])?;
/// let weak = WeakObjectRef::new(&shape);
/// assert_eq!(weak.upgrade().map(|shape| shape.as_slice().len()), Some(2));
/// drop(shape);
/// assert!(weak.upgrade().is_none());
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::WeakObjectPtr` in `object.h`.
pub struct WeakObjectRef<T = ObjectRef> {
    object: NonNull<TVMFFIObject>,
    class: core::marker::PhantomData<T>,
}

// SAFETY: counts are atomic, and upgrading checks the strong count in the same word.
unsafe impl<T> Send for WeakObjectRef<T> {}
// SAFETY: as for Send.
unsafe impl<T> Sync for WeakObjectRef<T> {}

impl<T: ObjectClass> WeakObjectRef<T> {
    /// Creates a weak reference to the object of a strong reference.
    pub fn new(strong: &T) -> WeakObjectRef<T> {
        let object = ManuallyDrop::new(strong.as_object().clone());
        let pointer = object.as_ptr();
        // SAFETY: the clone keeps the object alive until its strong reference is released, after
        // the weak one exists.
        unsafe {
            refcount::retain_weak(pointer);
            release::release_object(pointer);
            WeakObjectRef {
                object: NonNull::new_unchecked(pointer),
                class: core::marker::PhantomData,
            }
        }
    }

    /// Returns a strong reference, or `None` if the object has been destroyed.
    pub fn upgrade(&self) -> Option<T> {
        // SAFETY: the weak reference keeps the header readable; a successful upgrade owns a strong
        // reference.
        unsafe {
            refcount::try_upgrade(self.object.as_ptr())
                .then(|| T::from_object_unchecked(ObjectRef::from_raw(self.object)))
        }
    }
}

impl<T> Clone for WeakObjectRef<T> {
    fn clone(&self) -> Self {
        // SAFETY: `self` keeps the weak count above zero.
        unsafe { refcount::retain_weak(self.object.as_ptr()) };
        WeakObjectRef { object: self.object, class: core::marker::PhantomData }
    }
}

impl<T> Drop for WeakObjectRef<T> {
    fn drop(&mut self) {
        // SAFETY: the weak reference of this value ends here.
        unsafe { release::release_weak(self.object.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::value::shape::Shape;

    #[test]
    fn a_weak_reference_does_not_keep_the_content() -> Result<()> {
        let strong = Shape::from_slice(&[1, 2, 3])?;
        let weak = WeakObjectRef::new(&strong);
        assert_eq!(strong.as_object().weak_count(), 2);
        assert_eq!(weak.upgrade().map(|shape| shape.as_slice().len()), Some(3));
        drop(strong);
        assert!(weak.clone().upgrade().is_none());
        Ok(())
    }
}
