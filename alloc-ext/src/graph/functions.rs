//! Global functions that serialise values to JSON object graphs and deserialise them.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::static_function;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

/// Static function table of this module.
///
/// # Upstream
/// The registrations in `serialization.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!("ffi.ToJSONGraph", to_json_graph),
    static_function!("ffi.ToJSONGraphString", to_json_graph_string),
    static_function!("ffi.FromJSONGraph", from_json_graph),
    static_function!("ffi.FromJSONGraphString", from_json_graph_string),
];

fn to_json_graph(value: Any, metadata: Any) -> Result<Any> {
    super::to_json_graph(&value, &metadata)
}

fn to_json_graph_string(value: Any, metadata: Any) -> Result<String> {
    super::to_json_graph_string(&value, &metadata)
}

fn from_json_graph(graph: Any) -> Result<Any> {
    super::from_json_graph(&graph)
}

fn from_json_graph_string(text: String) -> Result<Any> {
    super::from_json_graph_string(text.as_bytes())
}
