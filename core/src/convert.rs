//! Which Rust types an Any holds, how they convert, and the text of a mismatch.

use core::ffi::c_void;
use core::fmt::{self, Write};

use crate::abi::TVMFFIAnyPayload;
use crate::any::{Any, AnyView};
use crate::error::{Error, Result};
use crate::object::{ObjectClass, ObjectRef};
use crate::text::Lossy;
use crate::{error, refcount, type_index, type_table};

/// A type that converts to and from [`Any`].
///
/// # Safety
/// `view` must give a cell that is valid while `self` is, and `into_any` a cell that owns what it points to.
///
/// # Upstream
/// `tvm::ffi::TypeTraits` in `type_traits.h`.
pub unsafe trait AnyCompatible: Sized {
    /// Writes the type as signatures show it: `int`, `Array<str>`.
    fn type_name(out: &mut dyn Write) -> fmt::Result;

    /// Writes the type-schema JSON: `{"type":"int"}`.
    fn schema(out: &mut dyn Write) -> fmt::Result;

    /// Borrows the value.
    fn view(&self) -> AnyView<'_>;

    /// Moves the value into an Any. Allocates nothing.
    fn into_any(self) -> Any;

    /// Converts by upstream's rules; None when the value is of another type.
    ///
    /// # Errors
    /// MemoryError when the conversion needs memory that is refused; errors of user hooks.
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>>;

    /// Writes what was found where this type was expected: a type key, or the place of a bad element.
    fn describe_mismatch(view: AnyView<'_>, out: &mut dyn Write) -> fmt::Result {
        write!(out, "{}", Lossy(type_table::type_key_of(view.type_index())))
    }
}

/// Shows `T` as signatures do.
pub struct TypeName<T>(core::marker::PhantomData<T>);

impl<T> TypeName<T> {
    /// The text of `T`.
    pub const fn new() -> TypeName<T> {
        TypeName(core::marker::PhantomData)
    }
}

impl<T> Default for TypeName<T> {
    fn default() -> Self {
        TypeName::new()
    }
}

impl<T: AnyCompatible> fmt::Display for TypeName<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::type_name(f)
    }
}

/// Shows what `view` is, to somebody who expected a `T`.
pub struct Found<'a, T>(AnyView<'a>, core::marker::PhantomData<T>);

impl<'a, T> Found<'a, T> {
    /// The text of `view`.
    pub const fn new(view: AnyView<'a>) -> Found<'a, T> {
        Found(view, core::marker::PhantomData)
    }
}

impl<T: AnyCompatible> fmt::Display for Found<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::describe_mismatch(self.0, f)
    }
}

/// The TypeError of a failed conversion to `T`.
///
/// # Upstream
/// `AnyView::cast` in `any.h`.
pub(crate) fn mismatch_error<T: AnyCompatible>(view: AnyView<'_>) -> Error {
    error!(TYPE_ERROR, "Cannot convert from type `{}` to `{}`", Found::<T>::new(view), TypeName::<T>::new())
}

/// Writes `{"type":"KEY"}`.
pub fn write_schema(out: &mut dyn Write, key: &str) -> fmt::Result {
    write!(out, "{{\"type\":\"{key}\"}}")
}

/// Implements `From` for [`Any`]. One by one: a blanket impl would collide with `From<Any> for Any`.
#[macro_export]
macro_rules! any_from {
    ($($name:ty),*) => {$(
        impl From<$name> for $crate::any::Any {
            fn from(value: $name) -> $crate::any::Any {
                $crate::convert::AnyCompatible::into_any(value)
            }
        }
    )*};
}

any_from!(i64, u64, i32, u32, i16, u16, i8, u8, isize, usize, f64, f32, bool, (), *mut c_void);

impl<T: AnyCompatible> From<Option<T>> for Any {
    fn from(value: Option<T>) -> Any {
        value.into_any()
    }
}

/// Implements the two text functions of [`AnyCompatible`].
#[macro_export]
macro_rules! any_texts {
    ($name:expr, $schema:expr) => {
        fn type_name(out: &mut dyn ::core::fmt::Write) -> ::core::fmt::Result {
            out.write_str($name)
        }

        fn schema(out: &mut dyn ::core::fmt::Write) -> ::core::fmt::Result {
            $crate::convert::write_schema(out, $schema)
        }
    };
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        // SAFETY: an integer cell points to nothing.
        unsafe impl AnyCompatible for $int {
            any_texts!("int", "int");

            fn view(&self) -> AnyView<'_> {
                AnyView::plain(type_index::INT, TVMFFIAnyPayload { v_int64: *self as i64 })
            }

            fn into_any(self) -> Any {
                owned(self.view())
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                // Narrowing wraps, as a C cast does: upstream's rule.
                Ok(matches!(view.type_index(), type_index::INT | type_index::BOOL)
                    .then(|| view.payload_bits() as $int))
            }
        }
    )*};
}

integers!(i64, u64, i32, u32, i16, u16, i8, u8, isize, usize);

/// Owns a view whose cell points to nothing.
fn owned(view: AnyView<'_>) -> Any {
    // SAFETY: only called for plain payloads, so there is nothing to own.
    unsafe { Any::from_raw(*view.as_raw()) }
}

// SAFETY: a bool cell points to nothing.
unsafe impl AnyCompatible for bool {
    any_texts!("bool", "bool");

    fn view(&self) -> AnyView<'_> {
        AnyView::from(*self)
    }

    fn into_any(self) -> Any {
        owned(self.view())
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<bool>> {
        Ok(matches!(view.type_index(), type_index::INT | type_index::BOOL).then(|| view.payload_bits() != 0))
    }
}

fn float_of(view: AnyView<'_>) -> Option<f64> {
    match view.type_index() {
        type_index::FLOAT => Some(f64::from_bits(view.payload_bits())),
        type_index::INT | type_index::BOOL => Some(view.payload_bits() as i64 as f64),
        _ => None,
    }
}

macro_rules! floats {
    ($($float:ty),*) => {$(
        // SAFETY: a float cell points to nothing.
        unsafe impl AnyCompatible for $float {
            any_texts!("float", "float");

            fn view(&self) -> AnyView<'_> {
                AnyView::from(*self)
            }

            fn into_any(self) -> Any {
                owned(self.view())
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                Ok(float_of(view).map(|value| value as $float))
            }
        }
    )*};
}

floats!(f64, f32);

// SAFETY: a None cell points to nothing.
unsafe impl AnyCompatible for () {
    any_texts!("None", "None");

    fn view(&self) -> AnyView<'_> {
        AnyView::NONE
    }

    fn into_any(self) -> Any {
        Any::NONE
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<()>> {
        Ok(view.is_none().then_some(()))
    }
}

// SAFETY: an opaque pointer is not followed and not owned.
unsafe impl AnyCompatible for *mut c_void {
    any_texts!("void*", "void*");

    fn view(&self) -> AnyView<'_> {
        if self.is_null() { AnyView::NONE } else { AnyView::pointer(type_index::OPAQUE_PTR, *self) }
    }

    fn into_any(self) -> Any {
        owned(self.view())
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<*mut c_void>> {
        Ok(match view.type_index() {
            type_index::OPAQUE_PTR => Some(view.payload_pointer()),
            type_index::NONE => Some(core::ptr::null_mut()),
            _ => None,
        })
    }
}

// SAFETY: an Any owns what its cell points to.
unsafe impl AnyCompatible for Any {
    any_texts!("Any", "Any");

    fn view(&self) -> AnyView<'_> {
        Any::view(self)
    }

    fn into_any(self) -> Any {
        self
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Any>> {
        view.to_owned().map(Some)
    }
}

// SAFETY: forwards to the conversion of `T`, or is None, which points to nothing.
unsafe impl<T: AnyCompatible> AnyCompatible for Option<T> {
    fn type_name(out: &mut dyn Write) -> fmt::Result {
        write!(out, "Optional<{}>", TypeName::<T>::new())
    }

    fn schema(out: &mut dyn Write) -> fmt::Result {
        out.write_str("{\"type\":\"Optional\",\"args\":[")?;
        T::schema(out)?;
        out.write_str("]}")
    }

    fn view(&self) -> AnyView<'_> {
        self.as_ref().map_or(AnyView::NONE, T::view)
    }

    fn into_any(self) -> Any {
        self.map_or(Any::NONE, T::into_any)
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<Option<T>>> {
        if view.is_none() {
            return Ok(Some(None));
        }
        Ok(T::try_from_view(view)?.map(Some))
    }

    fn describe_mismatch(view: AnyView<'_>, out: &mut dyn Write) -> fmt::Result {
        T::describe_mismatch(view, out)
    }
}

/// Takes a reference to the object of `view` when it is an instance of `T`; understands rvalue references.
pub(crate) fn object_from_view<T: ObjectClass>(view: AnyView<'_>) -> Option<T> {
    let object = match view.rvalue_slot() {
        // SAFETY: an rvalue reference points to the caller's object pointer (ABI).
        Some(slot) => core::ptr::NonNull::new(unsafe { slot.as_ptr().read() })?,
        None => view.object_ptr()?,
    };
    // SAFETY: the view borrows a live object, whose header is readable and whose strong count is not zero.
    unsafe {
        if !type_table::is_instance((*object.as_ptr()).type_index, T::type_index()) {
            return None;
        }
        refcount::retain(object.as_ptr());
        Some(T::from_object_unchecked(ObjectRef::from_raw(object)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn types_have_upstreams_texts() {
        assert_eq!(TypeName::<i32>::new().to_string(), "int");
        assert_eq!(TypeName::<Option<f32>>::new().to_string(), "Optional<float>");
        let mut schema = std::string::String::new();
        assert!(Option::<i64>::schema(&mut schema).is_ok());
        assert_eq!(schema, r#"{"type":"Optional","args":[{"type":"int"}]}"#);
    }

    #[test]
    fn integers_wrap_as_c_casts_do() -> Result<()> {
        assert_eq!(Any::from(300i64).get::<u8>()?, 44);
        assert_eq!(Any::from(-1i64).get::<u64>()?, u64::MAX);
        Ok(())
    }

    #[test]
    fn none_is_a_null_pointer_and_back() -> Result<()> {
        assert!(Any::NONE.get::<*mut c_void>()?.is_null());
        assert!(Any::new(core::ptr::null_mut::<c_void>()).is_none());
        Ok(())
    }
}
