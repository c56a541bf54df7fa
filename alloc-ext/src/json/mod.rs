//! JSON parser and writer, byte-identical to upstream in what they accept and in what they write.
//!
//! | JSON | value |
//! |---|---|
//! | `null`, `true`, `false` | None, bool |
//! | digits with optional sign | int, or float if it exceeds 64 bits |
//! | other numbers, `NaN`, `Infinity`, `-Infinity` | float |
//! | string | String |
//! | `[...]` | Array |
//! | `{...}` | Map; the last value of a repeated key is kept |
//!
//! Parser and writer are iterative, with an explicit stack, so only memory limits the nesting depth
//! of documents.
//!
//! # Examples
//! ```
//! use ferrite_alloc_ext::json;
//!
//! # fn main() -> ferrite_core::error::Result<()> {
//! let value = json::parse(br#"{"axes": [0, 1.5]}"#)?;
//! assert_eq!(json::stringify(&value, None)?, r#"{"axes":[0,1.5]}"#);
//! let error = json::parse(b"[1 2]").expect_err("no comma");
//! assert_eq!(error.message(), "Expecting ',' delimiter: line 1 column 4 (char 3)");
//! # Ok(())
//! # }
//! ```
#![deny(unsafe_code)]

mod decimal;
mod digits;
#[allow(unsafe_code, reason = "operands are where the function's types say")]
mod functions;
mod general;
mod number;
mod parser;
mod text;
mod tree;
mod value_builder;
mod writer;

pub(crate) use decimal::Number;
pub(crate) use digits::write_int;
pub use functions::FUNCTIONS;
pub(crate) use general::write_general;
pub(crate) use number::read as read_number;
pub use parser::parse;
pub(crate) use text::{literal_len, write_quoted};
pub(crate) use tree::{Tree, TreeValue};
pub use writer::stringify;
pub(crate) use writer::write;

#[cfg(test)]
mod tests;
