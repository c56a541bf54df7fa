//! Types of parameters, results and elements: those with a value representation, and Rust types
//! that are converted.
#![forbid(unsafe_code)]

use super::{AnyCompatible, TypeText};
use crate::error::Result;
use crate::platform::text::Writer;
use crate::value::any::{Any, AnyView};
use crate::value::callee::{Call, TensorUse};
use crate::value::store_forwarding;

/// A type with a spelling in signatures, schemas and messages.
pub trait Described {
    /// The spelling of the type in signatures and schemas.
    const TYPE: &'static TypeText;

    /// The spelling of the type as a function result: `()` is `void` there.
    const RESULT_TYPE: &'static TypeText = Self::TYPE;

    /// Whether sequences of the type are bytes.
    #[doc(hidden)]
    const IS_BYTE: bool = false;

    /// Returns whether a value converts to the type, for the descriptions of mismatches.
    #[doc(hidden)]
    fn accepts(view: &AnyView<'_>) -> bool;

    /// Writes the actual type of a value that does not convert to this type: its type key, or the
    /// position and type of a mismatching element.
    fn describe(view: AnyView<'_>, out: &mut Writer<'_>) {
        super::describe_type(view, out);
    }
}

impl<T: AnyCompatible> Described for T {
    const TYPE: &'static TypeText = T::TEXT;
    const RESULT_TYPE: &'static TypeText = T::RESULT_TEXT;
    const IS_BYTE: bool = T::IS_BYTE;

    fn accepts(view: &AnyView<'_>) -> bool {
        matches!(T::try_from_view(*view), Ok(Some(_)))
    }

    fn describe(view: AnyView<'_>, out: &mut Writer<'_>) {
        T::describe_mismatch(view, out);
    }
}

/// A type that values convert to, and that may borrow from the value: `i64`, `&str`, `Vec<f64>`,
/// `Tensor`.
///
/// # Upstream
/// `TryFrom<AnyView>` of the crate `tvm-ffi`.
#[diagnostic::on_unimplemented(
    message = "values do not convert to `{Self}`",
    note = "values convert to numbers, `bool`, `char`, `&str`, `&[u8]`, types that are `AnyCompatible` such as `Tensor` and `Function`, \
            and with the feature `alloc` to `String`, `Vec<T>` and maps; also to tuples and `Option`s of these"
)]
pub trait FromView<'a>: Described + Sized {
    /// Converts a value by upstream's rules. Returns `None` if the value has another type.
    ///
    /// # Errors
    /// MemoryError when out of memory; OverflowError for an integer that does not fit; ValueError
    /// for a string that is not UTF-8; errors of user callbacks.
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>>;

    /// Converts a value as [`from_view`](Self::from_view) does. `is_exact` is set to `false` if a
    /// value made from the result would not be the same: an integer read as a float, a list read as
    /// an array.
    ///
    /// # Errors
    /// The errors of [`from_view`](Self::from_view).
    fn is_exact(view: &'a AnyView<'a>) -> Result<bool>;
}

impl<'a, T: AnyCompatible> FromView<'a> for T {
    #[inline(always)]
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<T>> {
        T::try_from_view(*view)
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        let converted = T::try_from_view(*view)?;
        let words = |view: AnyView<'_>| {
            (view.type_index(), view.as_raw().small_str_len, view.payload_bits())
        };
        Ok(converted.is_some_and(|converted| words(converted.view()) == words(*view)))
    }
}

/// A type that values convert to, and that borrows nothing: the results of calls, and the elements
/// of containers.
pub trait FromAny: for<'a> FromView<'a> {}

impl<T: for<'a> FromView<'a>> FromAny for T {}

/// A type of parameters of typed functions, which may borrow from the arguments of a call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a parameter",
    note = "parameters are numbers, `bool`, `char`, `&str`, `&[u8]`, types that are `AnyCompatible` such as `Tensor` and `Function`, \
            and with the feature `alloc` `String`, `Vec<T>` and maps; also tuples and `Option`s of these"
)]
pub trait Param: Described {
    /// The type for the duration of one call.
    type In<'a>;

    /// Converts an argument. Returns `None` if it has another type.
    ///
    /// # Errors
    /// The errors of [`FromView::from_view`].
    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<Self::In<'a>>>;

    /// Use of a tensor's elements by the parameter, for which the call borrows them.
    #[doc(hidden)]
    const TENSOR_USE: TensorUse = TensorUse::None;

    /// Converts an argument of a call, for types that name the call in messages or compare its
    /// arguments.
    #[doc(hidden)]
    #[inline(always)]
    fn argument<'a>(call: &'a Call<'a>, place: ArgumentPlace) -> Result<Self::In<'a>> {
        call.convert::<Self>(place.index)
    }
}

/// Position of the argument that a parameter converts. The call creates one for each argument, and
/// the conversion consumes it, so an exclusively borrowed tensor becomes only one output.
#[doc(hidden)]
pub struct ArgumentPlace {
    index: usize,
    tensor_use: TensorUse,
}

impl ArgumentPlace {
    /// Creates the place of an argument whose elements the call has borrowed for the use of `P`.
    #[inline(always)]
    pub(crate) fn of<P: Param + ?Sized>(index: usize) -> ArgumentPlace {
        ArgumentPlace { index, tensor_use: P::TENSOR_USE }
    }

    /// Returns the index, if the call has borrowed the elements for this use.
    ///
    /// # Errors
    /// TypeError if the type of the parameter does not have the use of the type that it converts
    /// to.
    #[inline(always)]
    pub(crate) fn used_for(self, call: &Call<'_>, tensor_use: TensorUse) -> Result<usize> {
        if self.tensor_use == tensor_use { Ok(self.index) } else { Err(call.wrong_use(self.index)) }
    }
}

impl<T: AnyCompatible> Param for T {
    type In<'a> = T;

    #[inline(always)]
    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<T>> {
        T::try_from_view(if T::IS_PLAIN { *view } else { store_forwarding::view(view) })
    }
}

/// A type that converts to a value, and may allocate for it: the results of typed functions, and
/// the elements of containers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not convert to a value",
    note = "numbers, `bool`, `char`, `&str`, `()` and types that are `AnyCompatible` such as `Tensor` and `Function` convert, and with \
            the feature `alloc` `String`, `Vec<T>` and maps; also tuples and `Option`s of these"
)]
pub trait IntoAny: Described + Sized {
    /// Converts to an owned value.
    ///
    /// # Errors
    /// MemoryError; errors of key hooks for maps.
    fn try_into_any(self) -> Result<Any>;
}

impl<T: AnyCompatible> IntoAny for T {
    #[inline(always)]
    fn try_into_any(self) -> Result<Any> {
        Ok(self.into_any())
    }
}

/// An element type of containers: values convert to it and back.
pub trait Value: FromAny + IntoAny + 'static {}

impl<T: FromAny + IntoAny + 'static> Value for T {}

impl<T: Described> Described for Option<T> {
    const TYPE: &'static TypeText = &TypeText::generic("Optional", "Optional", &[T::TYPE]);

    fn accepts(view: &AnyView<'_>) -> bool {
        view.is_none() || T::accepts(view)
    }

    fn describe(view: AnyView<'_>, out: &mut Writer<'_>) {
        T::describe(view, out);
    }
}

impl<'a, T: FromView<'a>> FromView<'a> for Option<T> {
    fn from_view(view: &'a AnyView<'a>) -> Result<Option<Self>> {
        if view.is_none() {
            return Ok(Some(None));
        }
        Ok(T::from_view(view)?.map(Some))
    }

    fn is_exact(view: &'a AnyView<'a>) -> Result<bool> {
        if view.is_none() { Ok(true) } else { T::is_exact(view) }
    }
}

impl<T: Param> Param for Option<T> {
    type In<'a> = Option<T::In<'a>>;

    fn param<'a>(view: &'a AnyView<'a>) -> Result<Option<Self::In<'a>>> {
        if view.is_none() {
            return Ok(Some(None));
        }
        Ok(T::param(view)?.map(Some))
    }

    const TENSOR_USE: TensorUse = T::TENSOR_USE;

    #[inline(always)]
    fn argument<'a>(call: &'a Call<'a>, place: ArgumentPlace) -> Result<Option<T::In<'a>>> {
        if call.args.get(place.index).is_some_and(|view| view.is_none()) {
            return Ok(None);
        }
        T::argument(call, place).map(Some)
    }
}

impl<T: IntoAny> IntoAny for Option<T> {
    fn try_into_any(self) -> Result<Any> {
        self.map_or(Ok(Any::NONE), T::try_into_any)
    }
}

/// Implements [`Param`] for a type that borrows nothing.
macro_rules! owned_param {
    ([$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $crate::value::convert::Param for $name {
            type In<'view> = $name;

            fn param<'view>(
                view: &'view $crate::value::any::AnyView<'view>,
            ) -> $crate::error::Result<Option<Self::In<'view>>> {
                $crate::value::convert::FromView::from_view(view)
            }
        }
    };
}
pub(super) use owned_param;
