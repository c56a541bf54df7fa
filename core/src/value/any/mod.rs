//! The 16-byte tagged value: owned [`Any`] and borrowed [`AnyView`].

use core::mem::ManuallyDrop;

use crate::abi::{TVMFFIAny, TVMFFIAnyPayload, type_index};
use crate::error::Result;
use crate::object::{ObjectRef, release};
use crate::value::convert::{AnyCompatible, FromAny, FromView};

mod view;
pub use view::{AnyView, write_owned_at, write_owned_slow};

/// The cell of the value None.
const NONE: TVMFFIAny = TVMFFIAny {
    type_index: type_index::NONE,
    small_str_len: 0,
    payload: TVMFFIAnyPayload { v_int64: 0 },
};

/// An owned value, with one strong reference if the value is an object.
///
/// Never contains a raw string, a byte array pointer or an rvalue reference, which
/// [`AnyView::to_owned`] copies, nor a DLTensor pointer, which it refuses.
///
/// # Examples
/// ```
/// use ferrite_core::{Any, String};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let number = Any::from(42i64);
/// assert_eq!(number.get::<i64>()?, 42);
/// assert_eq!(number.get::<String>().unwrap_err().kind_bytes(), b"TypeError");
///
/// let text = Any::new(String::new("a longer string")?);
/// assert_eq!(text.get::<String>()?.as_str(), Some("a longer string"));
/// assert!(text.as_object().is_some() && number.as_object().is_none());
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `tvm::ffi::Any` in `any.h`.
#[repr(transparent)]
pub struct Any {
    raw: TVMFFIAny,
}

// SAFETY: an Any is plain data or one counted object reference; counts are atomic (see `refcount`),
// and objects of the ABI are shared between threads by contract (`TVMFFIObject`: deleters may run
// on any thread).
unsafe impl Send for Any {}
// SAFETY: as for Send: a shared Any only allows reading the cell and retaining the object.
unsafe impl Sync for Any {}

impl Any {
    /// The value None.
    pub const NONE: Any = Any { raw: NONE };

    /// Creates an owned value from a Rust value. Allocates nothing. For strings, vectors and maps
    /// of Rust, see [`Any::try_new`].
    pub fn new<T: AnyCompatible>(value: T) -> Any {
        value.into_any()
    }

    /// Creates an owned value from a Rust value of any type with a value representation: also
    /// strings, vectors, tuples and maps, which are copied to objects.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, Result};
    ///
    /// # fn main() -> Result<()> {
    /// let value = Any::try_new(("text", [1, 2, 3], None::<bool>))?;
    /// let (text, last): (ferrite_core::String, i64) = Any::try_new(("text", 3))?.get()?;
    /// assert_eq!((text.as_str(), last), (Some("text"), 3));
    /// # let _ = value;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// MemoryError; errors of key hooks for maps.
    pub fn try_new<T: crate::value::convert::IntoAny>(value: T) -> Result<Any> {
        value.try_into_any()
    }

    /// Takes ownership of a raw cell and of its reference.
    ///
    /// # Safety
    /// The cell must be an owned value: its object, if any, must be live, and the caller gives up
    /// one strong reference to it. If it is a DLTensor pointer, the tensor must be valid for as
    /// long as the value or a copy of it exists.
    pub const unsafe fn from_raw(raw: TVMFFIAny) -> Any {
        Any { raw }
    }

    /// Takes ownership of a cell that a function returned, as [`from_raw`](Any::from_raw) does.
    ///
    /// # Errors
    /// TypeError for a DLTensor pointer, which C++ code may return.
    ///
    /// # Safety
    /// Same requirements as [`Any::from_raw`], except that the cell may be a DLTensor pointer.
    #[inline(always)]
    pub unsafe fn from_result(raw: TVMFFIAny) -> Result<Any> {
        if raw.type_index == type_index::DL_TENSOR_PTR {
            return Err(view::unowned_tensor());
        }
        // SAFETY: guaranteed by the caller.
        Ok(unsafe { Any::from_raw(raw) })
    }

    /// Returns the raw cell and transfers its reference to the caller.
    pub fn into_raw(self) -> TVMFFIAny {
        ManuallyDrop::new(self).raw
    }

    /// Borrows the raw cell.
    pub const fn as_raw(&self) -> &TVMFFIAny {
        &self.raw
    }

    /// Borrows the value as a view.
    pub const fn view(&self) -> AnyView<'_> {
        // SAFETY: an owned value is one that can be viewed, and it stays while it is borrowed.
        unsafe { AnyView::from_raw(self.raw) }
    }

    /// Borrows the value as a view in place, without copying the cell.
    pub const fn as_view(&self) -> &AnyView<'_> {
        // SAFETY: as in `view`.
        unsafe { AnyView::in_place(&self.raw) }
    }

    /// Returns the type index of the value.
    pub const fn type_index(&self) -> i32 {
        self.raw.type_index
    }

    /// Returns `true` if the value is None.
    pub const fn is_none(&self) -> bool {
        self.view().is_none()
    }

    /// Converts the value to `T` by upstream's rules, as [`AnyView::get`] does.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Any;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let value = Any::try_new("seven and more")?;
    /// assert_eq!(value.get::<&str>()?, "seven and more");
    /// let error = value.get::<f64>().unwrap_err();
    /// assert_eq!(error.to_string(), "TypeError: Cannot convert from type `ffi.String` to `float`");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`AnyView::get`].
    pub fn get<'a, T: FromView<'a>>(&'a self) -> Result<T> {
        self.as_view().get_in_place()
    }

    /// Converts the value to `T` as [`get`](Any::get) does, and drops it.
    ///
    /// # Errors
    /// The errors of [`AnyView::get`].
    #[inline]
    pub fn into_value<T: FromAny>(self) -> Result<T> {
        self.as_view().get_in_place()
    }

    /// Converts the value to `T` as [`AnyView::try_get`] does. Returns `None` if it does not
    /// convert.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Any;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let value = Any::from(7);
    /// assert_eq!(value.try_get::<i64>()?, Some(7));
    /// assert_eq!(value.try_get::<&str>()?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`AnyView::try_get`].
    pub fn try_get<'a, T: FromView<'a>>(&'a self) -> Result<Option<T>> {
        T::from_view(self.as_view())
    }

    /// Borrows the object reference of the value. Returns `None` if the value is not an object.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::{Any, Shape};
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let value = Any::from(Shape::from_slice(&[2])?);
    /// assert!(value.as_object().is_some_and(|object| object.is_instance::<Shape>()));
    /// assert!(Any::from(1).as_object().is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn as_object(&self) -> Option<&ObjectRef> {
        self.view().object_ptr()?;
        // SAFETY: the payload is the pointer of an object, not null, and a reference is a
        // transparent newtype over such a pointer; the value keeps the object while it is borrowed.
        Some(unsafe { &*(&raw const self.raw.payload).cast::<ObjectRef>() })
    }

    /// Converts an object value to an object reference.
    ///
    /// # Errors
    /// Returns the value unchanged if it is not an object.
    #[inline]
    pub fn into_object(self) -> core::result::Result<ObjectRef, Any> {
        match self.view().object_ptr() {
            Some(object) => {
                let _ = self.into_raw();
                // SAFETY: the value held one strong reference, which was just given up.
                Ok(unsafe { ObjectRef::from_raw(object) })
            }
            None => Err(self),
        }
    }
}

impl Clone for Any {
    fn clone(&self) -> Any {
        self.view().retained()
    }
}

impl Drop for Any {
    fn drop(&mut self) {
        if let Some(object) = self.view().object_ptr() {
            // SAFETY: an owned value holds one strong reference, which ends here.
            unsafe { release::release_object(object.as_ptr()) };
        }
    }
}

impl Default for Any {
    fn default() -> Any {
        Any::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::string::String;

    #[test]
    fn plain_values_round_trip() -> Result<()> {
        assert_eq!(Any::from(7i64).get::<i64>()?, 7);
        assert_eq!(Any::from(true).get::<i64>()?, 1);
        assert_eq!(Any::from(2.5f64).get::<f64>()?, 2.5);
        assert_eq!(Any::from(3i64).get::<f64>()?, 3.0);
        assert!(Any::NONE.get::<Option<i64>>()?.is_none());
        assert_eq!(
            (Any::NONE.is_none(), Any::from(0i64).is_none(), Any::default().is_none()),
            (true, false, true)
        );
        Ok(())
    }

    #[test]
    fn objects_are_lent_as_what_they_are() -> Result<()> {
        let value = Any::new(crate::value::shape::Shape::from_slice(&[2, 3])?);
        let lent = value.as_object().and_then(ObjectRef::as_class::<crate::value::shape::Shape>);
        assert_eq!(lent.map(|shape| shape.as_slice()), Some(&[2i64, 3][..]));
        assert!(
            value
                .as_object()
                .and_then(ObjectRef::as_class::<crate::value::big_int::BigInt>)
                .is_none()
        );
        assert!(Any::from(1i64).as_object().is_none());
        assert_eq!(value.into_object().map(|object| object.strong_count()).ok(), Some(1));
        Ok(())
    }

    #[test]
    fn cloning_shares_the_object() -> Result<()> {
        let text = Any::new(String::new("longer than seven bytes")?);
        let other = text.clone();
        assert_eq!(text.view().object_ptr(), other.view().object_ptr());
        let object = text.get::<ObjectRef>()?;
        assert_eq!(object.strong_count(), 3);
        drop((text, other));
        assert_eq!(object.strong_count(), 1);
        Ok(())
    }
}
