//! Arguments of calls: tuples of Rust values, whose views lie in one list on the stack.
#![forbid(unsafe_code)]

use core::ffi::CStr;

use crate::error::Result;
use crate::value::any::{Any, AnyView};
use crate::value::convert::{AnyCompatible, IntoAny, slice_into_any};

/// A value that can be passed in a call.
///
/// Types that are [`AnyCompatible`], by value or by reference, are viewed in place. Strings,
/// vectors and maps are copied to objects first.
///
/// # Upstream
/// `IntoArgHolder` of the crate `tvm-ffi`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a function",
    note = "arguments are numbers, `bool`, `char`, `&str`, slices, types that are `AnyCompatible` such as `Tensor` and `Function`, and \
            references to these; with the feature `alloc` also `String`, `Vec<T>` and maps; also tuples and `Option`s of these"
)]
pub trait Argument {
    /// The prepared value, which lives during the call.
    type Held;

    /// Prepares the value for the call.
    ///
    /// # Errors
    /// MemoryError; errors of key hooks for maps.
    fn hold(self) -> Result<Self::Held>;

    /// Borrows the prepared value.
    fn view_of(held: &Self::Held) -> AnyView<'_>;
}

impl<'a, T: AnyCompatible> Argument for &'a T {
    type Held = &'a T;

    #[inline(always)]
    fn hold(self) -> Result<&'a T> {
        Ok(self)
    }

    #[inline(always)]
    fn view_of<'b>(held: &'b &'a T) -> AnyView<'b> {
        held.view()
    }
}

impl<'a> Argument for AnyView<'a> {
    type Held = AnyView<'a>;

    #[inline(always)]
    fn hold(self) -> Result<AnyView<'a>> {
        Ok(self)
    }

    #[inline(always)]
    fn view_of<'b>(held: &'b AnyView<'a>) -> AnyView<'b> {
        *held
    }
}

impl<'a> Argument for &'a CStr {
    type Held = &'a CStr;

    fn hold(self) -> Result<&'a CStr> {
        Ok(self)
    }

    fn view_of<'b>(held: &'b &'a CStr) -> AnyView<'b> {
        AnyView::from(*held)
    }
}

impl<T: Argument> Argument for Option<T> {
    type Held = Option<T::Held>;

    fn hold(self) -> Result<Self::Held> {
        self.map(T::hold).transpose()
    }

    fn view_of(held: &Self::Held) -> AnyView<'_> {
        held.as_ref().map_or(AnyView::NONE, T::view_of)
    }
}

/// Implements [`Argument`](crate::value::convert::Argument) for types that are
/// [`AnyCompatible`](crate::AnyCompatible): `any_argument!([T: Object] ObjectArc<T>)`.
#[doc(hidden)]
#[macro_export]
macro_rules! any_argument {
    ($([$($generics:tt)*] $name:ty;)*) => {$(
        impl<$($generics)*> $crate::value::convert::Argument for $name {
            type Held = Self;

            #[inline(always)]
            fn hold(self) -> $crate::error::Result<Self> {
                Ok(self)
            }

            #[inline(always)]
            fn view_of(held: &Self) -> $crate::value::any::AnyView<'_> {
                $crate::value::convert::AnyCompatible::view(held)
            }
        }
    )*};
}

any_argument!([] Any;);

/// Implements [`Argument`] for types that are converted to a value first.
macro_rules! converted {
    ($([$($generics:tt)*] $name:ty, |$value:ident| $convert:expr;)*) => {$(
        impl<$($generics)*> Argument for $name {
            type Held = Any;

            fn hold(self) -> Result<Any> {
                let $value = self;
                $convert
            }

            fn view_of(held: &Any) -> AnyView<'_> {
                held.view()
            }
        }
    )*};
}

converted! {
    [] &str, |text| text.try_into_any();
    [] char, |character| character.try_into_any();
    [T: IntoAny + Clone + 'static] &[T], |values| slice_into_any(values);
    [T: IntoAny + Clone + 'static, const N: usize] &[T; N], |values| slice_into_any(values);
    [T: IntoAny, const N: usize] [T; N], |values| values.try_into_any();
}

#[cfg(feature = "alloc")]
mod owned {
    use super::*;
    use alloc::borrow::Cow;
    use alloc::boxed::Box;
    use alloc::collections::BTreeMap;
    use alloc::string::String;
    use alloc::vec::Vec;

    converted! {
        [] String, |text| text.try_into_any();
        [] &String, |text| text.as_str().try_into_any();
        [] Box<str>, |text| text.try_into_any();
        [] Cow<'_, str>, |text| text.try_into_any();
        [T: IntoAny + 'static] Vec<T>, |values| values.try_into_any();
        [T: IntoAny + Clone + 'static] &Vec<T>, |values| slice_into_any(values);
        [K: IntoAny, V: IntoAny] BTreeMap<K, V>, |map| map.try_into_any();
    }

    #[cfg(feature = "bytes")]
    converted! {
        [] bytes::Bytes, |content| content.try_into_any();
        [] &bytes::Bytes, |content| content.clone().try_into_any();
    }

    #[cfg(feature = "num-bigint")]
    converted! {
        [] num_bigint::BigInt, |number| number.try_into_any();
        [] &num_bigint::BigInt, |number| number.clone().try_into_any();
    }

    #[cfg(feature = "std")]
    converted! {
        [K: IntoAny, V: IntoAny, S] std::collections::HashMap<K, V, S>, |map| map.try_into_any();
    }
}

/// The arguments of a call: a tuple of up to twelve values, or a slice of views.
///
/// # Upstream
/// The tuples of `Function::call_tuple` of the crate `tvm-ffi`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of arguments",
    note = "arguments are passed as a tuple: `f.call((1, 2.5, \"x\"))`, `f.call((x,))` for one, `f.call(())` for none"
)]
pub trait Arguments {
    /// Calls `body` with views of the arguments.
    ///
    /// # Errors
    /// The errors of [`Argument::hold`] and of `body`.
    fn with_views<R>(self, body: impl FnOnce(&[AnyView<'_>]) -> Result<R>) -> Result<R>;
}

macro_rules! nested_tuples {
    ($($($element:ident)*;)*) => {$(
        converted! { [$($element: IntoAny),*] ($($element,)*), |elements| elements.try_into_any(); }
    )*};
}

nested_tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

impl Arguments for &[AnyView<'_>] {
    #[inline(always)]
    fn with_views<R>(self, body: impl FnOnce(&[AnyView<'_>]) -> Result<R>) -> Result<R> {
        body(self)
    }
}

impl<const N: usize> Arguments for &[AnyView<'_>; N] {
    #[inline(always)]
    fn with_views<R>(self, body: impl FnOnce(&[AnyView<'_>]) -> Result<R>) -> Result<R> {
        body(self)
    }
}

macro_rules! tuples {
    ($($($index:tt $argument:ident),*;)*) => {$(
        impl<$($argument: Argument),*> Arguments for ($($argument,)*) {
            #[inline(always)]
            fn with_views<Out>(self, body: impl FnOnce(&[AnyView<'_>]) -> Result<Out>) -> Result<Out> {
                let held = ($($argument::hold(self.$index)?,)*);
                body(&[$($argument::view_of(&held.$index)),*])
            }
        }
    )*};
}

impl Arguments for () {
    #[inline(always)]
    fn with_views<R>(self, body: impl FnOnce(&[AnyView<'_>]) -> Result<R>) -> Result<R> {
        body(&[])
    }
}

tuples! {
    0 A;
    0 A, 1 B;
    0 A, 1 B, 2 C;
    0 A, 1 B, 2 C, 3 D;
    0 A, 1 B, 2 C, 3 D, 4 E;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J, 10 K;
    0 A, 1 B, 2 C, 3 D, 4 E, 5 F, 6 G, 7 H, 8 I, 9 J, 10 K, 11 L;
}
