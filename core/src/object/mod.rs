//! Owned references to reference-counted objects, and typed references for object classes.

pub mod borrow;
pub(crate) mod free;
pub mod object_alloc;
pub mod refcount;
pub mod release;
pub mod weak;

use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use crate::abi::{TVMFFIObject, type_index};

/// A strong reference to an object of any class.
///
/// # Examples
/// ```
/// use ferrite_core::{ObjectClass, ObjectRef, Shape, Tensor};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let object: ObjectRef = Shape::from_slice(&[2, 3])?.into_object();
/// let other = object.clone();
/// assert!(other.ptr_eq(&object) && object.strong_count() == 2);
/// assert_eq!(object.as_class::<Shape>().map(|shape| shape.as_slice()), Some(&[2, 3][..]));
/// assert!(object.downcast::<Tensor>().is_err());
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::ObjectRef` in `object.h`, never null here: an absent reference is an `Option`.
#[repr(transparent)]
pub struct ObjectRef {
    object: NonNull<TVMFFIObject>,
}

// SAFETY: counts are atomic, and the ABI lets any thread use and release an object.
unsafe impl Send for ObjectRef {}
// SAFETY: as for Send; a shared reference only reads the header and retains.
unsafe impl Sync for ObjectRef {}

impl ObjectRef {
    /// Takes ownership of a strong reference.
    ///
    /// # Safety
    /// `object` must be live, and the caller transfers one strong reference to it.
    pub const unsafe fn from_raw(object: NonNull<TVMFFIObject>) -> ObjectRef {
        ObjectRef { object }
    }

    /// Creates a new strong reference to a borrowed object.
    ///
    /// # Safety
    /// `object` must be live.
    pub unsafe fn borrow_raw(object: NonNull<TVMFFIObject>) -> ObjectRef {
        // SAFETY: the caller guarantees a live object, whose strong count is not zero.
        unsafe { refcount::retain(object.as_ptr()) };
        ObjectRef { object }
    }

    /// Returns the object pointer and transfers the strong reference to the caller.
    pub fn into_raw(self) -> NonNull<TVMFFIObject> {
        ManuallyDrop::new(self).object
    }

    /// Borrows the object as a pointer.
    pub const fn as_ptr(&self) -> *mut TVMFFIObject {
        self.object.as_ptr()
    }

    /// Returns the type index of the object.
    pub fn type_index(&self) -> i32 {
        // SAFETY: the reference keeps the object, and so its header, alive.
        unsafe { (*self.as_ptr()).type_index }
    }

    /// Returns the number of strong references. Other threads may change it at any time.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{ObjectClass, Shape};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let shape = Shape::from_slice(&[1])?;
    /// let twin = shape.clone();
    /// assert_eq!(shape.as_object().strong_count(), 2);
    /// assert!(shape.as_object().ptr_eq(twin.as_object()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn strong_count(&self) -> u32 {
        // SAFETY: the object is alive.
        unsafe { refcount::strong_count(self.as_ptr()) }
    }

    /// Returns the number of weak references; all strong references together count as one. Other
    /// threads may change it at any time.
    pub fn weak_count(&self) -> u32 {
        // SAFETY: the object is alive.
        unsafe { refcount::weak_count(self.as_ptr()) }
    }

    /// Returns `true` if this is the only reference, strong or weak, so that the object may be
    /// changed in place.
    #[inline]
    pub fn is_unique(&self) -> bool {
        // SAFETY: the object is alive.
        unsafe { refcount::is_unique(self.as_ptr()) }
    }

    /// Returns `true` if both references point to the same object.
    pub fn ptr_eq(&self, other: &ObjectRef) -> bool {
        self.object == other.object
    }

    /// Borrows the reference as a `T`. Returns `None` unless the class of the object is exactly
    /// `T`.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, ObjectRef, Shape, Tensor};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let object: ObjectRef = Any::from(Shape::from_slice(&[2, 3])?).get()?;
    /// assert_eq!(object.as_class::<Shape>().map(Shape::as_slice), Some(&[2, 3][..]));
    /// assert!(object.as_class::<Tensor>().is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn as_class<T: ObjectClass>(&self) -> Option<&T> {
        if self.type_index() != T::type_index() {
            return None;
        }
        // SAFETY: the object is of that class; `T` is a transparent newtype over `ObjectRef`
        // (contract of the trait).
        Some(unsafe { &*core::ptr::from_ref(self).cast::<T>() })
    }
}

impl Clone for ObjectRef {
    fn clone(&self) -> ObjectRef {
        // SAFETY: `self` keeps the object alive.
        unsafe { ObjectRef::borrow_raw(self.object) }
    }
}

impl Drop for ObjectRef {
    fn drop(&mut self) {
        // SAFETY: the reference that this value owns ends here.
        unsafe { release::release_object(self.as_ptr()) };
    }
}

/// A reference type for one class of objects.
///
/// Implemented by [`object_class!`](crate::object_class); the implementer is a newtype over
/// [`ObjectRef`].
///
/// # Safety
/// The implementer must be a transparent newtype over [`ObjectRef`], and `from_object_unchecked`
/// must only rely on the object being an instance of `type_index()`.
pub unsafe trait ObjectClass: Sized {
    /// The type key of the class.
    const TYPE_KEY: &'static str;

    /// Returns the type index of the class.
    fn type_index() -> i32;

    /// Borrows the untyped reference.
    fn as_object(&self) -> &ObjectRef;

    /// Converts into the untyped reference.
    fn into_object(self) -> ObjectRef;

    /// Converts an untyped reference without a check.
    ///
    /// # Safety
    /// The object must be an instance of this class.
    unsafe fn from_object_unchecked(object: ObjectRef) -> Self;
}

// SAFETY: every object is an instance of ffi.Object.
unsafe impl ObjectClass for ObjectRef {
    const TYPE_KEY: &'static str = "ffi.Object";

    fn type_index() -> i32 {
        type_index::OBJECT
    }

    fn as_object(&self) -> &ObjectRef {
        self
    }

    fn into_object(self) -> ObjectRef {
        self
    }

    unsafe fn from_object_unchecked(object: ObjectRef) -> ObjectRef {
        object
    }
}

/// Defines a reference type for a class:
/// `object_class!(pub struct Shape, type_index::SHAPE, "ffi.Shape")`.
#[macro_export]
macro_rules! object_class {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident, $index:expr, $key:literal) => {
        $crate::object_class!(@bare $(#[$meta])* $visibility struct $name, $index, $key);
        $crate::object_conversions!($name);

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&self.0, f)
            }
        }
    };
    (@bare $(#[$meta:meta])* $visibility:vis struct $name:ident, $index:expr, $key:literal) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone)]
        $visibility struct $name($crate::object::ObjectRef);

        // SAFETY: a transparent newtype; the constructor's caller guarantees the class.
        unsafe impl $crate::object::ObjectClass for $name {
            const TYPE_KEY: &'static str = $key;

            fn type_index() -> i32 {
                $index
            }

            fn as_object(&self) -> &$crate::object::ObjectRef {
                &self.0
            }

            fn into_object(self) -> $crate::object::ObjectRef {
                self.0
            }

            unsafe fn from_object_unchecked(object: $crate::object::ObjectRef) -> Self {
                $name(object)
            }
        }
    };
}
