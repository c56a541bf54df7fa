//! Objects as values, and their classes.

use core::fmt;

use crate::names::type_table;
use crate::object::{ObjectClass, ObjectRef, refcount};
use crate::value::any::{Any, AnyView};

impl ObjectRef {
    /// Returns `true` if the object's class is `T` or derived from `T`.
    pub fn is_instance<T: ObjectClass>(&self) -> bool {
        type_table::is_instance(self.type_index(), T::type_index())
    }

    /// Converts the reference to class `T`.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, ObjectRef, Shape, Tensor};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let object: ObjectRef = Any::from(Shape::from_slice(&[2, 3])?).get()?;
    /// let object = object.downcast::<Tensor>().unwrap_err(); // it is not a tensor
    /// assert_eq!(object.downcast::<Shape>().unwrap().as_slice(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the reference unchanged if the object is not an instance of `T`.
    pub fn downcast<T: ObjectClass>(self) -> core::result::Result<T, ObjectRef> {
        if self.is_instance::<T>() {
            // SAFETY: just checked.
            Ok(unsafe { T::from_object_unchecked(self) })
        } else {
            Err(self)
        }
    }

    /// Moves the reference into an owned value.
    pub(crate) fn into_any(self) -> Any {
        let index = self.type_index();
        self.into_any_of(index)
    }

    /// Moves the reference into an owned value. `index` is the type index of the object, which the
    /// caller already knows.
    #[inline]
    pub(crate) fn into_any_of(self, index: i32) -> Any {
        let view = AnyView::pointer(index, self.into_raw().as_ptr().cast());
        // SAFETY: the cell holds the reference that was just given up.
        unsafe { Any::from_raw(*view.as_raw()) }
    }

    /// Borrows the reference as a view.
    pub(crate) fn view(&self) -> AnyView<'_> {
        AnyView::pointer(self.type_index(), self.as_ptr().cast())
    }
}

impl fmt::Debug for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.view())
    }
}

/// Implements [`AnyCompatible`](crate::AnyCompatible) for an [`ObjectClass`] to which only objects
/// of the class convert.
#[macro_export]
macro_rules! object_conversions {
    ($name:ty) => {
        $crate::any_from!($name);

        // SAFETY: `view` borrows and `into_any` moves the reference of the value.
        unsafe impl $crate::value::convert::AnyCompatible for $name {
            $crate::any_texts!(
                <$name as $crate::object::ObjectClass>::TYPE_KEY,
                <$name as $crate::object::ObjectClass>::TYPE_KEY
            );

            fn view(&self) -> $crate::value::any::AnyView<'_> {
                $crate::value::convert::view_object(self)
            }

            fn into_any(self) -> $crate::value::any::Any {
                $crate::value::convert::own_object(self)
            }

            fn try_from_view(
                view: $crate::value::any::AnyView<'_>,
            ) -> $crate::error::Result<Option<Self>> {
                Ok($crate::value::convert::object_of(view))
            }
        }
    };
}

object_conversions!(ObjectRef);

/// Borrows a typed reference as a view; for [`object_conversions!`](crate::object_conversions).
#[doc(hidden)]
pub fn view_object<T: ObjectClass>(value: &T) -> AnyView<'_> {
    value.as_object().view()
}

/// Moves a typed reference into an owned value; for
/// [`object_conversions!`](crate::object_conversions).
#[doc(hidden)]
pub fn own_object<T: ObjectClass>(value: T) -> Any {
    value.into_object().into_any()
}

/// Returns a new reference to the object of `view`, or `None` if it is not an instance of `T`.
/// Follows rvalue references. For [`object_conversions!`](crate::object_conversions).
#[doc(hidden)]
pub fn object_of<T: ObjectClass>(view: AnyView<'_>) -> Option<T> {
    let object = instance_from_view(view, T::type_index())?;
    // SAFETY: the object is an instance of the class of that index.
    Some(unsafe { T::from_object_unchecked(object) })
}

/// Implements [`object_of`] with the class as an argument, so that all classes share one function
/// body.
#[inline(never)]
fn instance_from_view(view: AnyView<'_>, class: i32) -> Option<ObjectRef> {
    let object = match view.rvalue_slot() {
        // SAFETY: an rvalue reference points to the caller's object pointer (ABI).
        Some(slot) => core::ptr::NonNull::new(unsafe { slot.as_ptr().read() })?,
        None => view.object_ptr()?,
    };
    // SAFETY: the view borrows a live object, whose header is readable and whose strong count is
    // not zero.
    unsafe {
        if !type_table::is_instance((*object.as_ptr()).type_index, class) {
            return None;
        }
        refcount::retain(object.as_ptr());
        Some(ObjectRef::from_raw(object))
    }
}
