//! Conversions between Rust types and [`Any`], and the description of type mismatches in errors.

mod arguments;
mod error;
mod integer;
mod key;
#[cfg(feature = "alloc")]
mod map;
mod object;
mod pointer;
mod sequence;
#[cfg(all(test, feature = "std"))]
mod tests_of_std;
mod text;
mod tuple;
mod value;

pub use arguments::{Argument, Arguments};
pub use key::KeyOf;
#[cfg(feature = "serde")]
pub(crate) use map::{entries_of, map_of};
#[doc(hidden)]
pub use object::{object_of, own_object, view_object};
pub use pointer::OpaquePtr;
pub(crate) use sequence::of_slice as slice_into_any;
pub use value::{ArgumentPlace, Described, FromAny, FromView, IntoAny, Param, Value};

use crate::abi::{TVMFFIAnyPayload, type_index};
use crate::error::kind::TYPE_ERROR;
use crate::error::{Error, Result};
use crate::names::type_table;
use crate::platform::text::Writer;
use crate::value::any::{Any, AnyView};

/// A type that converts to and from [`Any`].
///
/// # Safety
/// `view` must return a cell that is valid as long as `self` is, and `into_any` a cell that owns
/// its object.
///
/// # Upstream
/// `tvm::ffi::TypeTraits` in `type_traits.h`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of values",
    note = "a text is a `ferrite_core::String`, of which `ferrite_core::String::new(text)?` makes one"
)]
pub unsafe trait AnyCompatible: Sized {
    /// The spelling of the type in signatures and schemas.
    const TEXT: &'static TypeText;

    /// The spelling of the type as a function result: `()` is `void` there.
    const RESULT_TEXT: &'static TypeText = Self::TEXT;

    /// Whether sequences of the type are bytes.
    #[doc(hidden)]
    const IS_BYTE: bool = false;

    /// Whether the type is read from the type index and the payload of a cell alone, each in one
    /// load.
    #[doc(hidden)]
    const IS_PLAIN: bool = false;

    /// Borrows the value as a view.
    fn view(&self) -> AnyView<'_>;

    /// Moves the value into an [`Any`]. Allocates nothing.
    fn into_any(self) -> Any;

    /// Converts a value by upstream's rules. Returns `None` if the value has another type.
    ///
    /// # Errors
    /// MemoryError when out of memory; errors that depend on the type, such as ValueError for a
    /// string that does not name a dtype; errors of user callbacks.
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>>;

    /// Writes the actual type of a value that does not convert to this type: its type key, or the
    /// position and type of a mismatching element.
    fn describe_mismatch(view: AnyView<'_>, out: &mut Writer<'_>) {
        describe_type(view, out);
    }
}

/// Writes the type key of a value.
pub(crate) fn describe_type(view: AnyView<'_>, out: &mut Writer<'_>) {
    out.put_lossy(type_table::type_key_of(view.type_index()));
}

/// The spelling of a type in signatures and schemas, as constant data.
pub struct TypeText {
    name: &'static str,
    key: &'static str,
    args: &'static [&'static TypeText],
}

impl TypeText {
    /// Spells a type without parameters: its name in signatures and its key in schemas.
    pub const fn of(name: &'static str, key: &'static str) -> TypeText {
        TypeText::generic(name, key, &[])
    }

    /// Spells a generic type with the given parameters.
    pub const fn generic(
        name: &'static str,
        key: &'static str,
        args: &'static [&'static TypeText],
    ) -> TypeText {
        TypeText { name, key, args }
    }

    /// Returns the key of the type in schemas, without parameters.
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Returns the type parameters.
    #[cfg(any(feature = "std", feature = "client"))]
    pub(crate) const fn args(&self) -> &'static [&'static TypeText] {
        self.args
    }

    /// Writes the type as spelled in signatures: `int`, `Array<str>`.
    pub fn write_name(&self, out: &mut Writer<'_>) {
        out.put(self.name.as_bytes());
        self.write_args(out, [b"<", b", ", b">"], Self::write_name);
    }

    /// Writes the type-schema JSON: `{"type":"KEY"}`, `{"type":"KEY","args":[...]}`.
    pub fn write_schema(&self, out: &mut Writer<'_>) {
        out.put(b"{\"type\":\"");
        out.put(self.key.as_bytes());
        out.put(b"\"");
        self.write_args(out, [b",\"args\":[", b",", b"]"], Self::write_schema);
        out.put(b"}");
    }

    /// Writes the type parameters, if any, between an opening and a closing delimiter.
    fn write_args(
        &self,
        out: &mut Writer<'_>,
        [open, comma, close]: [&[u8]; 3],
        write: fn(&Self, &mut Writer<'_>),
    ) {
        let mut before = open;
        for arg in self.args {
            out.put(before);
            write(arg, out);
            before = comma;
        }
        if !self.args.is_empty() {
            out.put(close);
        }
    }
}

/// The target type of a conversion, as described in mismatch errors.
pub struct TargetTexts {
    pub(crate) of_type: &'static TypeText,
    /// The function [`Described::describe`] of the target type.
    pub(crate) mismatch: fn(AnyView<'_>, &mut Writer<'_>),
}

impl TargetTexts {
    /// Describes the conversion target `T`.
    pub(crate) const fn of<T: Described>() -> TargetTexts {
        TargetTexts { of_type: T::TYPE, mismatch: T::describe }
    }

    /// Describes a conversion target by its spelling. A mismatch reports the type key of the value.
    pub const fn of_text(of_type: &'static TypeText) -> TargetTexts {
        TargetTexts { of_type, mismatch: describe_type }
    }
}

/// Creates the TypeError of a failed conversion to `target`.
///
/// # Upstream
/// `AnyView::cast` in `any.h`.
#[cold]
#[inline(never)]
pub(crate) fn mismatch_error(view: AnyView<'_>, target: &TargetTexts) -> Error {
    Error::from_parts(crate::__error_site!(), TYPE_ERROR, &|out| {
        out.put(b"Cannot convert from type `");
        (target.mismatch)(view, out);
        out.put(b"` to `");
        target.of_type.write_name(out);
        out.put(b"`");
    })
}

/// Implements `From` for [`Any`]. Types are listed individually, because a blanket impl would
/// overlap with `From<Any> for Any`.
#[macro_export]
macro_rules! any_from {
    ($($name:ty),*) => {$(
        impl From<$name> for $crate::value::any::Any {
            fn from(value: $name) -> $crate::value::any::Any {
                $crate::value::convert::AnyCompatible::into_any(value)
            }
        }

        impl TryFrom<$crate::value::any::Any> for $name {
            type Error = $crate::error::Error;

            fn try_from(value: $crate::value::any::Any) -> $crate::error::Result<$name> {
                value.get()
            }
        }

        $crate::any_argument!([] $name;);
    )*};
}

any_from!(i64, u64, i32, u32, i16, u16, i8, u8, isize, usize, f64, f32, bool, ());

impl<T: AnyCompatible> From<Option<T>> for Any {
    fn from(value: Option<T>) -> Any {
        value.map_or(Any::NONE, T::into_any)
    }
}

/// Defines the `TEXT` of an [`AnyCompatible`] implementation from the type's name in signatures and
/// its key in schemas.
#[macro_export]
macro_rules! any_texts {
    ($name:expr, $key:expr) => {
        const TEXT: &'static $crate::value::convert::TypeText =
            &$crate::value::convert::TypeText::of($name, $key);
    };
}

macro_rules! integers {
    ($($int:ident),*) => {$(
        // SAFETY: an integer cell points to nothing.
        unsafe impl AnyCompatible for $int {
            any_texts!("int", "int");

            const IS_BYTE: bool = integer::is_byte(stringify!($int));
            const IS_PLAIN: bool = true;

            fn view(&self) -> AnyView<'_> {
                AnyView::plain(type_index::INT, TVMFFIAnyPayload { v_int64: *self as i64 })
            }

            fn into_any(self) -> Any {
                owned(self.view())
            }

            fn try_from_view(view: AnyView<'_>) -> Result<Option<Self>> {
                if !matches!(view.type_index(), type_index::INT | type_index::BOOL) {
                    return Ok(None);
                }
                let number = view.payload_bits() as i64;
                // Cells hold the bits of an `u64` as those of an `i64`.
                if number as $int as i64 != number {
                    return Err(integer::out_of_range(number, stringify!($int)));
                }
                Ok(Some(number as $int))
            }
        }
    )*};
}

integers!(i64, u64, i32, u32, i16, u16, i8, u8, isize, usize);

/// Creates an owned value from a view of a plain value, which refers to no object.
fn owned(view: AnyView<'_>) -> Any {
    // SAFETY: only called for plain payloads, which own nothing.
    unsafe { Any::from_raw(*view.as_raw()) }
}

// SAFETY: a bool cell points to nothing.
unsafe impl AnyCompatible for bool {
    any_texts!("bool", "bool");

    const IS_PLAIN: bool = true;

    fn view(&self) -> AnyView<'_> {
        AnyView::from(*self)
    }

    fn into_any(self) -> Any {
        owned(self.view())
    }

    fn try_from_view(view: AnyView<'_>) -> Result<Option<bool>> {
        Ok(matches!(view.type_index(), type_index::INT | type_index::BOOL)
            .then(|| view.payload_bits() != 0))
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

            const IS_PLAIN: bool = true;

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

    const RESULT_TEXT: &'static TypeText = &TypeText::of("void", "None");

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

// SAFETY: an Any owns the object of its cell.
unsafe impl AnyCompatible for Any {
    any_texts!("Any", "Any");

    fn view(&self) -> AnyView<'_> {
        Any::view(self)
    }

    fn into_any(self) -> Any {
        self
    }

    // Shared by most arguments of typed functions.
    #[cfg_attr(feature = "speed", inline(never))]
    fn try_from_view(view: AnyView<'_>) -> Result<Option<Any>> {
        view.to_owned().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::string::String;

    #[test]
    fn types_have_upstreams_texts() -> Result<()> {
        assert_eq!(String::compose(&|out| i32::TEXT.write_name(out))?, "int");
        assert_eq!(String::compose(&|out| Option::<f32>::TYPE.write_name(out))?, "Optional<float>");
        assert_eq!(
            String::compose(&|out| Option::<i64>::TYPE.write_schema(out))?,
            r#"{"type":"Optional","args":[{"type":"int"}]}"#
        );
        Ok(())
    }

    #[test]
    fn integers_that_do_not_fit_are_refused() -> Result<()> {
        let error = Any::from(300i64).get::<u8>().unwrap_err();
        assert_eq!(error.kind_bytes(), b"OverflowError");
        assert_eq!(error.message_bytes(), b"Integer 300 is out of range for `u8`");
        assert!(Any::from(-1i64).get::<u32>().is_err());
        assert_eq!(Any::from(-128i64).get::<i8>()?, -128);
        assert_eq!(Any::from(u64::MAX).get::<u64>()?, u64::MAX);
        Ok(())
    }

    #[test]
    fn none_is_a_null_pointer_and_back() -> Result<()> {
        assert!(Any::NONE.get::<*mut core::ffi::c_void>()?.is_null());
        assert_eq!(Any::NONE.get::<OpaquePtr>()?, OpaquePtr::NULL);
        assert!(Any::new(OpaquePtr::NULL).is_none());
        assert!(Any::from(8i64).get::<*mut core::ffi::c_void>().is_err());
        Ok(())
    }
}
