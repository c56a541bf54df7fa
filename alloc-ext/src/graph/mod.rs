//! Serialisation of object graphs to JSON, and deserialisation.
//!
//! A graph is `{"root_index": I, "nodes": [{"type": KEY, "data": DATA}, ...]}`, with an optional
//! `"metadata"`. Values that compare equal as map keys share a node. A node follows its children,
//! so the root is last.
//!
//! | type | data |
//! |---|---|
//! | None | none |
//! | bool, int, float, String | the value |
//! | DataType | the dtype as a string |
//! | Device | `[type, id]` |
//! | Bytes | a base64 string |
//! | Shape | the dimensions |
//! | Array, List | node indices of the elements |
//! | Map, Dict | node indices of keys and values, alternating |
//! | enums | the integer of an IntEnum, the string of any other |
//! | types with the hooks `__data_to_json__` and `__data_from_json__` | the result of the first hook |
//! | other reflected types | an object of fields: plain values if the field's static type allows it, otherwise node indices |
//!
//! Both directions are iterative walks, so deep graphs do not overflow the stack. [`crate::walk`]
//! limits the depth.
#![forbid(unsafe_code)]

mod container;
mod decode;
mod encode;
mod functions;
mod node;
mod numbers;
mod plain;
mod reader;
mod source;
mod text;
mod type_cache;
mod values;

#[cfg(test)]
mod tests;

pub use decode::{from_json_graph, from_json_graph_string};
pub use functions::FUNCTIONS;
pub use text::to_json_graph_string;
pub use values::to_json_graph;
