//! JSON text to values and back, byte for byte as upstream writes and accepts it.
//!
//! | JSON | value |
//! |---|---|
//! | `null`, `true`, `false` | None, bool |
//! | digits with a sign or none | int, or float where 64 bits do not hold it |
//! | other numbers, `NaN`, `Infinity`, `-Infinity` | float |
//! | text | String |
//! | `[...]` | Array |
//! | `{...}` | Map; of a repeated key the last value stays |
//!
//! Both directions keep their own stack of what is open, so documents may nest as deep as there is memory.
//!
//! # Examples
//! ```
//! use ferrite_alloc_ext::json;
//!
//! # fn main() -> ferrite_core::error::Result<()> {
//! let value = json::parse(br#"{"axes": [0, 1.5]}"#)?;
//! assert_eq!(json::stringify(&value, None)?, r#"{"axes":[0,1.5]}"#);
//! let error = json::parse(b"[1 2]").expect_err("no comma");
//! assert_eq!(error.message(), b"Expecting ',' delimiter: line 1 column 4 (char 3)");
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

#[cfg(feature = "speed")]
mod active_lists;
#[allow(unsafe_code, reason = "operands are where the function's types say")]
mod calls;
#[cfg_attr(not(feature = "speed"), path = "exact_decimal.rs")]
mod decimal;
#[cfg_attr(not(feature = "speed"), path = "digits_one_by_one.rs")]
mod digits;
#[allow(unsafe_code, reason = "so are those of the functions here")]
mod functions;
#[cfg_attr(not(feature = "speed"), path = "general_one_by_one.rs")]
mod general;
#[cfg(any(test, not(feature = "speed")))]
mod long_decimal;
mod number;
mod parser;
#[cfg_attr(not(feature = "speed"), path = "no_short.rs")]
mod short;
mod text;
mod tree;
#[cfg_attr(not(feature = "speed"), path = "values_one_by_one.rs")]
mod values;
#[cfg_attr(not(feature = "speed"), path = "writer_one_by_one.rs")]
mod writer;

pub use functions::FUNCTIONS;
pub(crate) use general::write_general;
pub(crate) use number::{Number, read as read_number, write_int};
pub use parser::parse;
pub(crate) use text::{literal_len, write_quoted};
pub(crate) use tree::{Tree, TreeValue};
pub use writer::stringify;
pub(crate) use writer::write;

#[cfg(test)]
mod decimal_tests;
#[cfg(all(test, feature = "speed"))]
mod exact_decimal;
#[cfg(test)]
mod tests;
#[cfg(all(test, feature = "speed"))]
mod writer_one_by_one;
