//! Serialisation of object graphs to JSON, and deserialisation.
//!
//! A graph is `{"root_index": I, "nodes": [{"type": KEY, "data": DATA}, ...]}`, with an optional `"metadata"`. Values that
//! are equal as map keys share a node. Nodes come after their children, so the root is last.
//!
//! | type | data |
//! |---|---|
//! | None | none |
//! | bool, int, float, String | the value |
//! | DataType | its text |
//! | Device | `[type, id]` |
//! | Bytes | base64 text |
//! | Shape | its extents |
//! | Array, List | node indices of the elements |
//! | Map, Dict | node indices of keys and values, alternating |
//! | enums | integer of an IntEnum, name of any other |
//! | types with the hooks `__data_to_json__` and `__data_from_json__` | the result of the first hook |
//! | other reflected types | an object of fields: plain values if the field's static type allows it, else node indices |
//!
//! Both directions use [`crate::walk`], which bounds the depth of graphs, not of the stack.
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
