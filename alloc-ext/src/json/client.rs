//! JSON parser and writer of the loaded `libtvm_ffi`.
//!
//! `null`, `true`, `false`, numbers, strings, arrays and objects become None, bool, int or float,
//! String, Array and Map, and back.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use crate::global_function::library_function;

/// Parses JSON text.
///
/// # Errors
/// ValueError for invalid JSON; MemoryError.
///
/// # Upstream
/// `json::Parse` in `extra/json.h`.
pub fn parse(text: &[u8]) -> Result<Any> {
    library_function!("ffi.json.Parse").call((String::from_bytes(text)?,))
}

/// Serialises a value to JSON text. Supported types are None, bool, int, float, String, Array,
/// List, and Map with string keys.
///
/// Without an indent, or with 0, the text contains no white space. Otherwise each entry is on a
/// separate line, indented by `indent` spaces per level.
///
/// # Errors
/// ValueError for a value or key of another type, and for a cyclic list; MemoryError.
///
/// # Upstream
/// `json::Stringify` in `extra/json.h`.
pub fn stringify(value: &Any, indent: Option<i64>) -> Result<String> {
    library_function!("ffi.json.Stringify").call((value, indent))
}
