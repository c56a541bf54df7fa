//! Graphs of objects as JSON, both ways.
//!
//! A graph is `{"root_index": I, "nodes": [{"type": KEY, "data": DATA}, ...]}`, with `"metadata"` when there is some.
//! Values that are equal as keys share a node; children come before what refers to them, and the root is last.
//!
//! | type | data |
//! |---|---|
//! | None | none |
//! | bool, int, float, String | the value |
//! | DataType | its text |
//! | Device | `[type, id]` |
//! | Bytes | base64 text |
//! | Shape | its extents |
//! | Array, List | nodes of the elements |
//! | Map, Dict | nodes of keys and values, in turns |
//! | enums | number of an IntEnum, name of any other |
//! | types with the hooks `__data_to_json__` and `__data_from_json__` | what the first one makes |
//! | other reflected types | a Map of fields: plain values where the field's type says that they are, else nodes |
//!
//! Both ways walk by [`crate::walk`], so graphs may be as deep as that allows.
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
mod types;
mod values;

#[cfg(test)]
mod tests;

pub use decode::{from_json_graph, from_json_graph_string};
pub use functions::FUNCTIONS;
pub use text::to_json_graph_string;
pub use values::to_json_graph;
