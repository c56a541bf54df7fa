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
mod refusals;
mod serialize;

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

use crate::error::Result;
use crate::value::any::Any;

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

#[cfg(all(test, feature = "std"))]
mod tests;
