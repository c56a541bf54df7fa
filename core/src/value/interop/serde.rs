//! Conversions between Rust data structures and values, and values in the formats of the crate
//! `serde`.
//!
//! [`to_value`] converts any type that implements `Serialize` to a value: structs and maps become
//! Maps, sequences and tuples Arrays, unit variants of enums strings, other variants Maps of one
//! entry, `None` and `()` the value None. [`from_value`] converts back.
//!
//! [`Any`], strings, bytes, shapes, data types and devices implement `Serialize` and `Deserialize`
//! themselves, and so do the containers of `ferrite-ffi-alloc`. Other objects, such as tensors and
//! functions, raise TypeError; JSON text that names the classes of objects comes from the module
//! `graph` of `ferrite-ffi`.
#![forbid(unsafe_code)]

mod deserialize;
mod from_any;
mod into_any;
mod serialize;

use core::fmt::Display;

use serde_core::Serialize;
use serde_core::de::{self, DeserializeOwned, Unexpected};
use serde_core::ser;

use crate::error::{Error, Result};
use crate::names::type_table;
use crate::platform::text::Lossy;
use crate::value::any::{Any, AnyView};
use crate::value::big_int::BigInt;

/// Maximum depth of nested values. A List may contain itself.
const MAX_DEPTH: usize = 128;

/// Creates a value with the content of a data structure.
///
/// Integers that an int cannot hold become big integers.
///
/// # Examples
/// ```
/// use ferrite_core::value::interop::serde::to_value;
/// use ferrite_core::String;
///
/// #[derive(serde::Serialize)]
/// enum Layout {
///     RowMajor,
/// }
///
/// # fn main() -> ferrite_core::Result<()> {
/// assert_eq!(to_value(&Layout::RowMajor)?.get::<String>()?, "RowMajor");
/// assert_eq!(to_value(&vec![1.5, 2.5])?.get::<Vec<f64>>()?, [1.5, 2.5]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// MemoryError; ValueError of implementations of `Serialize`; OverflowError for integers above the
/// range of `i128`; in builds without Maps, ValueError for a structure that needs one.
pub fn to_value<T: Serialize + ?Sized>(data: &T) -> Result<Any> {
    data.serialize(into_any::IntoAnySerializer)
}

/// Creates a data structure with the content of a value, which may come from any language.
///
/// Numbers convert as arguments do, with range checks.
///
/// # Examples
/// ```
/// use ferrite_core::Any;
/// use ferrite_core::value::interop::serde::from_value;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let pair = Any::try_new((7, "seven"))?;
/// assert_eq!(from_value::<(u8, String)>(&pair)?, (7, "seven".into()));
/// let error = from_value::<(u8, u8)>(&pair).unwrap_err();
/// assert_eq!(error.to_string(), "TypeError: Cannot convert from type `ffi.SmallStr` to `int`");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// TypeError for a value of another type; OverflowError for an integer that does not fit;
/// ValueError for missing fields, unknown variants and other content that the structure cannot
/// hold, and for values that are nested more than 128 levels deep.
pub fn from_value<T: DeserializeOwned>(value: &Any) -> Result<T> {
    T::deserialize(from_any::FromAnyDeserializer::new(value.clone()))
}

impl ser::Error for Error {
    fn custom<T: Display>(message: T) -> Error {
        crate::error!(ValueError, "{message}")
    }
}

impl de::Error for Error {
    fn custom<T: Display>(message: T) -> Error {
        crate::error!(ValueError, "{message}")
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn de::Expected) -> Error {
        crate::error!(TypeError, "Expected {expected} but got {unexpected}")
    }
}

/// Reads an integer of up to 128 bits.
fn integer_of(value: &Any) -> Result<i128> {
    let Some(wide) = value.try_get::<BigInt>()? else { return value.get::<i64>().map(i128::from) };
    match *wide.words() {
        [low, high] => Ok((i128::from(high) << 64) | i128::from(low as u64)),
        ref words => Err(crate::error!(
            OverflowError,
            "Integer of {} bits is out of range for `i128`",
            64 * words.len()
        )),
    }
}

#[cold]
fn no_form(view: AnyView<'_>) -> Error {
    crate::error!(
        TypeError,
        "A value of type `{}` has no form in serde",
        Lossy(type_table::type_key_of(view.type_index()))
    )
}

#[cold]
fn too_deep() -> Error {
    crate::error!(ValueError, "the value is nested more than {MAX_DEPTH} levels deep")
}

#[cfg(all(test, feature = "std"))]
mod tests;
