//! Serialisation of object graphs to JSON, and deserialisation, by the loaded `libtvm_ffi`.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use crate::global_function::library_function;

/// Serialises a value and everything reachable from it to a graph of JSON values. `metadata` is
/// omitted if it is None.
///
/// # Errors
/// TypeError for an object that reflection cannot create and whose type has no hook, such as a
/// function; RuntimeError for other values without a JSON representation, such as pointers; errors
/// of hooks and field getters; MemoryError.
///
/// # Upstream
/// `ToJSONGraph` in `extra/serialization.h`.
pub fn to_json_graph(value: &Any, metadata: &Any) -> Result<Any> {
    library_function!("ffi.ToJSONGraph").call((value, metadata))
}

/// Serialises a value and everything reachable from it to a graph in JSON text. `metadata` is
/// omitted if it is None.
///
/// # Errors
/// Errors of [`to_json_graph`].
///
/// # Upstream
/// `ToJSONGraphString` in `serialization.cc`.
pub fn to_json_graph_string(value: &Any, metadata: &Any) -> Result<String> {
    library_function!("ffi.ToJSONGraphString").call((value, metadata))
}

/// Deserialises a value from a graph of JSON values.
///
/// # Errors
/// ValueError for values that are not a graph; KeyError and TypeError for missing parts or parts of
/// the wrong type; InternalError for an unknown type; errors of hooks, setters and default
/// factories; MemoryError.
///
/// # Upstream
/// `FromJSONGraph` in `extra/serialization.h`.
pub fn from_json_graph(graph: &Any) -> Result<Any> {
    library_function!("ffi.FromJSONGraph").call((graph,))
}

/// Deserialises a value from a graph in JSON text.
///
/// # Errors
/// ValueError for invalid JSON; errors of [`from_json_graph`].
///
/// # Upstream
/// `FromJSONGraphString` in `serialization.cc`.
pub fn from_json_graph_string(text: &[u8]) -> Result<Any> {
    library_function!("ffi.FromJSONGraphString").call((String::from_bytes(text)?,))
}
