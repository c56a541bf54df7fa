//! Encoding of graphs directly to JSON text, without intermediate values.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use super::encode::encode;
use super::node::{Data, Nodes};
use crate::json;

/// Serialises a value to the JSON text of its graph. `metadata` is omitted if it is None.
///
/// # Errors
/// Errors of [`to_json_graph`](super::to_json_graph); ValueError if the metadata or the result of a
/// hook is not a JSON value.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Array;
/// use ferrite_alloc_ext::graph;
/// use ferrite_core::value::any::Any;
///
/// # fn main() -> ferrite_core::error::Result<()> {
/// let array = Any::new(Array::from_slice(&[7i64, 7])?);
/// let text = graph::to_json_graph_string(&array, &Any::NONE)?;
/// assert_eq!(
///     text,
///     r#"{"root_index":1,"nodes":[{"type":"int","data":7},{"type":"ffi.Array","data":[0,0]}]}"#
/// );
/// let copy: Array<i64> = graph::from_json_graph_string(text.as_bytes())?.get()?;
/// assert_eq!(copy.len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// `ToJSONGraphString` in `serialization.cc`.
pub fn to_json_graph_string(value: &Any, metadata: &Any) -> Result<String> {
    let mut nodes = TextNodes::new()?;
    let root = encode(value, &mut nodes)?;
    let (mut text, start) = nodes.finish(root)?;
    if !metadata.is_none() {
        text.try_extend_from_slice(b",\"metadata\":")?;
        json::write(&mut text, metadata)?;
    }
    text.try_push(b'}')?;
    String::from_buffer(text, start)
}

/// Text of the nodes so far, with space in front for the header of a string object and the start of
/// the graph.
struct TextNodes(Buffer<u8>);

impl TextNodes {
    /// Bytes reserved in front of the nodes. The longest start of a graph takes 44.
    const LEAD_BYTES: usize = String::LEAD_BYTES + 48;

    fn new() -> Result<Self> {
        let mut text = Buffer::new();
        text.try_resize(Self::LEAD_BYTES, 0)?;
        Ok(Self(text))
    }

    /// Writes the start of the graph in front of the nodes. Returns the buffer and the offset where
    /// the text starts.
    fn finish(self, root: i64) -> Result<(Buffer<u8>, usize)> {
        let mut head = Buffer::new();
        head.try_extend_from_slice(b"{\"root_index\":")?;
        json::write_int(&mut head, root)?;
        head.try_extend_from_slice(b",\"nodes\":[")?;
        let mut text = self.0;
        let start = Self::LEAD_BYTES - head.len().min(Self::LEAD_BYTES);
        if let Some(place) = text.get_mut(start..Self::LEAD_BYTES) {
            place.copy_from_slice(&head);
        }
        text.try_push(b']')?;
        Ok((text, start))
    }
}

impl Nodes for TextNodes {
    fn push(&mut self, type_key: &[u8], data: Data<'_>) -> Result<()> {
        let text = &mut self.0;
        let start: &[u8] =
            if text.len() == Self::LEAD_BYTES { b"{\"type\":" } else { b",{\"type\":" };
        text.try_extend_from_slice(start)?;
        json::write_quoted(text, type_key)?;
        if !matches!(data, Data::Absent) {
            text.try_extend_from_slice(b",\"data\":")?;
        }
        match data {
            Data::Absent => {}
            Data::Value(value) => json::write(text, value)?,
            Data::Integers(integers) => write_integers(text, integers)?,
            Data::Fields(fields) => write_fields(text, fields)?,
        }
        Ok(text.try_push(b'}')?)
    }
}

fn write_integers(text: &mut Buffer<u8>, integers: &[i64]) -> Result<()> {
    text.try_push(b'[')?;
    for (place, integer) in integers.iter().enumerate() {
        if place > 0 {
            text.try_push(b',')?;
        }
        json::write_int(text, *integer)?;
    }
    Ok(text.try_push(b']')?)
}

fn write_fields(text: &mut Buffer<u8>, fields: &[(&'static [u8], Any)]) -> Result<()> {
    text.try_push(b'{')?;
    for (place, (name, value)) in fields.iter().enumerate() {
        if place > 0 {
            text.try_push(b',')?;
        }
        json::write_quoted(text, name)?;
        text.try_push(b':')?;
        json::write(text, value)?;
    }
    Ok(text.try_push(b'}')?)
}
