//! Functions that are linked with the tables that list them: on all targets but web pages.

#[cfg(not(feature = "speed"))]
use crate::error::Result;

use super::PackedFn;
#[cfg(not(feature = "speed"))]
use super::served::Served;

/// The data of a static function.
#[cfg(not(feature = "speed"))]
pub type Data = &'static dyn Served;

/// A Rust function over packed arguments, for callers that call it directly.
pub type Direct = PackedFn;

#[cfg(not(feature = "speed"))]
pub(super) fn linked_data(data: &Data) -> Option<Data> {
    Some(*data)
}

#[cfg(not(feature = "speed"))]
pub(super) fn required_data(data: &Data) -> Result<Data> {
    Ok(*data)
}

#[cfg(not(feature = "speed"))]
pub(super) fn direct_body(_: &Data, direct: Direct) -> Option<Direct> {
    Some(direct)
}

/// Returns the body itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_body {
    ($run:expr $(, $name:literal)?) => {
        $run
    };
}

/// Returns the data itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_data {
    ($data:expr $(, $name:literal)?) => {
        $data
    };
}

/// Returns the method itself.
#[doc(hidden)]
#[macro_export]
macro_rules! optional_method {
    ($this:ty, $run:expr, $($name:literal),+) => {
        $run
    };
}

/// Returns the body of a function as [`static_function!`](crate::static_function) makes it.
#[doc(hidden)]
#[macro_export]
macro_rules! direct_body {
    (packed $name:literal, $function:expr) => {
        $function
    };
    ($name:literal, $function:expr) => {{
        const CALLEE: &$crate::call::typed::Callee<'static> =
            &$crate::call::typed::Callee::new($name, $crate::call::typed::signature_of(&$function));
        fn call(args: &[$crate::AnyView<'_>]) -> $crate::Result<$crate::Any> {
            $crate::call::typed::TypedFn::invoke(&$function, CALLEE, args)
        }
        call
    }};
}
