//! Encoding of graphs as JSON values.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use super::encode::encode;
use super::node::{Data, Nodes};
use crate::containers::{ArrayObject, MapObject};

/// Serialises a value and everything reachable from it to a graph of JSON values. `metadata` is
/// omitted if it is None.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::{graph, json};
/// use ferrite_core::Any;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let graph = graph::to_json_graph(&Any::from(7), &Any::NONE)?;
/// assert_eq!(json::stringify(&graph, None)?, r#"{"root_index":0,"nodes":[{"type":"int","data":7}]}"#);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// TypeError for an object that reflection cannot create and whose type has no hook, such as a
/// function; RuntimeError for other values without a JSON representation, such as pointers;
/// ValueError for an object that contains itself, and beyond the depth limit of [`crate::walk`];
/// errors of hooks and field getters; MemoryError.
///
/// # Upstream
/// `ToJSONGraph` in `extra/serialization.h`, which recurses, and does not terminate if an object
/// other than a List or Dict contains itself.
pub fn to_json_graph(value: &Any, metadata: &Any) -> Result<Any> {
    let mut nodes = ValueNodes(Buffer::new());
    let root = encode(value, &mut nodes)?;
    let mut graph = MapObject::with_capacity(0)?;
    graph.insert(text(b"root_index")?, Any::from(root))?;
    graph.insert(text(b"nodes")?, Any::new(ArrayObject::from_slice(&nodes.0)?))?;
    if !metadata.is_none() {
        graph.insert(text(b"metadata")?, metadata.clone())?;
    }
    Ok(Any::new(graph))
}

struct ValueNodes(Buffer<Any>);

impl Nodes for ValueNodes {
    fn push(&mut self, type_key: &[u8], data: Data<'_>) -> Result<()> {
        let mut node = MapObject::with_capacity(0)?;
        node.insert(text(b"type")?, text(type_key)?)?;
        match data {
            Data::Absent => {}
            Data::Value(value) => node.insert(text(b"data")?, value.clone())?,
            Data::Integers(integers) => node.insert(text(b"data")?, array_of(integers)?)?,
            Data::Fields(fields) => node.insert(text(b"data")?, map_of(fields)?)?,
        }
        Ok(self.0.try_push(Any::new(node))?)
    }
}

fn text(content: &[u8]) -> Result<Any> {
    String::from_bytes(content).map(Any::new)
}

fn array_of(integers: &[i64]) -> Result<Any> {
    let mut values = Buffer::try_with_capacity(integers.len())?;
    integers.iter().try_for_each(|integer| values.try_push(Any::from(*integer)))?;
    ArrayObject::from_slice(&values).map(Any::new)
}

fn map_of(fields: &[(&'static [u8], Any)]) -> Result<Any> {
    let mut map = MapObject::with_capacity(0)?;
    fields.iter().try_for_each(|(name, value)| map.insert(text(name)?, value.clone()))?;
    Ok(Any::new(map))
}
