//! Reads objects from JSON.

use ferrite_alloc_ext::containers::{ArrayObject, MapObject};
use ferrite_alloc_ext::{base64, json};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Bytes, Shape, String, plain_bail, plain_error};

use crate::globals::array_bytes::Cursor;
use crate::{boxed, dtype};

/// Deserialises a value from the JSON of [`to_json`](super::to_json) or of an earlier release.
///
/// # Errors
/// ValueError for invalid JSON, a missing field, an index out of bounds or a cycle; TypeError for
/// a node of a compiler class; InternalError for malformed bytes of an array, shape or string;
/// MemoryError.
pub fn from_json(text: &[u8]) -> Result<Any> {
    let graph = json::parse(text)?.get::<MapObject>()?;
    let nodes = required::<ArrayObject>(&graph, "nodes")?;
    let root = index(&required(&graph, "root")?, nodes.len())?;
    Builder::new(nodes)?.build(root)
}

/// Returns a field of a JSON object; `None` if it is missing.
fn field<T: ferrite_core::value::convert::AnyCompatible>(
    object: &MapObject,
    name: &str,
) -> Result<Option<T>> {
    let name = String::new(name)?;
    object.get(AnyView::from(&name))?.map(|value| value.get()).transpose()
}

fn required<T: ferrite_core::value::convert::AnyCompatible>(
    object: &MapObject,
    name: &str,
) -> Result<T> {
    field(object, name)?
        .ok_or_else(|| plain_error!(VALUE_ERROR, "The JSON of a node has no field {}", name))
}

/// Reads the index of a node.
fn index(value: &Any, count: usize) -> Result<usize> {
    match usize::try_from(value.get::<i64>()?) {
        Ok(index) if index < count => Ok(index),
        _ => plain_bail!(VALUE_ERROR, "The JSON refers to a node that it does not have"),
    }
}

/// Progress of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Unseen,
    /// The children of the node are being built.
    Open,
    Built,
}

/// Builder of nodes, which builds each node after the nodes that it refers to.
struct Builder {
    nodes: ArrayObject,
    values: Buffer<(Progress, Any)>,
}

impl Builder {
    fn new(nodes: ArrayObject) -> Result<Builder> {
        let mut values = Buffer::new();
        for _ in 0..nodes.len() {
            values.try_push((Progress::Unseen, Any::NONE))?;
        }
        Ok(Builder { nodes, values })
    }

    /// Builds a node and all that it refers to, with a list of open nodes in place of recursion.
    fn build(mut self, root: usize) -> Result<Any> {
        let mut open = Buffer::new();
        open.try_push(root)?;
        while let Some(&next) = open.last() {
            match self.values[next].0 {
                Progress::Built => {
                    open.pop();
                }
                Progress::Unseen => {
                    self.values[next].0 = Progress::Open;
                    self.open_children(next, &mut open)?;
                }
                Progress::Open => {
                    self.values[next] = (Progress::Built, self.value_of(&self.node(next)?)?);
                    open.pop();
                }
            }
        }
        Ok(self.values[root].1.clone())
    }

    fn node(&self, index: usize) -> Result<MapObject> {
        self.nodes.get(index as i64)?.get()
    }

    fn open_children(&self, index: usize, open: &mut Buffer<usize>) -> Result<()> {
        for child in self.children(&self.node(index)?)? {
            let child = child?;
            match self.values[child].0 {
                Progress::Built => {}
                Progress::Unseen => open.try_push(child)?,
                Progress::Open => {
                    plain_bail!(VALUE_ERROR, "The nodes of the JSON refer to each other in a cycle")
                }
            }
        }
        Ok(())
    }

    /// Returns the indices of the nodes that a node refers to.
    fn children(&self, node: &MapObject) -> Result<impl Iterator<Item = Result<usize>> + use<>> {
        let (data, count) = (field::<ArrayObject>(node, "data")?, self.nodes.len());
        let length = data.as_ref().map_or(0, ArrayObject::len);
        let nothing = || plain_error!(VALUE_ERROR, "The JSON of a node has no data");
        Ok((0..length)
            .map(move |place| index(data.as_ref().ok_or_else(nothing)?.get(place as i64)?, count)))
    }

    fn value_of(&self, node: &MapObject) -> Result<Any> {
        let key = required::<String>(node, "type_key")?;
        match key.as_bytes() {
            b"" => Ok(Any::NONE),
            b"Array" => self.array(node),
            b"Map" | b"StrMap" => self.map(node),
            b"runtime.String" => string_of(node),
            b"StringImm" => Ok(Any::from(required::<String>(&attributes(node)?, "value")?)),
            b"IntImm" => {
                constant(node, |text| text.parse().ok().map(|value: i64| Any::from(value)))
            }
            b"FloatImm" => {
                constant(node, |text| text.parse().ok().map(|value: f64| Any::from(value)))
            }
            b"runtime.BoxInt" => {
                primitive(node, |text| text.parse().ok().map(|value: i64| Any::from(value)))
            }
            b"runtime.BoxFloat" => {
                primitive(node, |text| text.parse().ok().map(|value: f64| Any::from(value)))
            }
            b"runtime.BoxBool" => {
                primitive(node, |text| text.parse().ok().map(|value: bool| Any::from(value)))
            }
            b"runtime.NDArray" => Cursor(bytes_of(node)?.as_bytes()).tensor().map(Any::from),
            b"runtime.ShapeTuple" => shape_of(bytes_of(node)?.as_bytes()),
            other => {
                plain_bail!(
                    TYPE_ERROR,
                    "Objects of {} belong to the compiler, and cannot be read",
                    other
                )
            }
        }
    }

    fn array(&self, node: &MapObject) -> Result<Any> {
        let mut array = ArrayObject::with_capacity(0)?;
        for child in self.children(node)? {
            array.push(self.values[child?].1.clone())?;
        }
        Ok(array.into())
    }

    fn map(&self, node: &MapObject) -> Result<Any> {
        let mut map = MapObject::with_capacity(0)?;
        let mut children = self.children(node)?.map(|child| Ok(self.values[child?].1.clone()));
        let names = field::<ArrayObject>(node, "keys")?;
        let incomplete = || -> Error {
            plain_error!(VALUE_ERROR, "A Map in the JSON has a key without a value")
        };
        if let Some(names) = names {
            for name in names.as_slice() {
                let value: Result<Any> = children.next().ok_or_else(incomplete)?;
                map.insert(Any::from(name.get::<String>()?), value?)?;
            }
        }
        while let Some(key) = children.next() {
            map.insert(key?, children.next().ok_or_else(incomplete)??)?;
        }
        Ok(map.into())
    }
}

fn attributes(node: &MapObject) -> Result<MapObject> {
    required(node, "attrs")
}

/// Reads a number, which is stored as a string.
fn number(text: &String, parse: impl FnOnce(&str) -> Option<Any>) -> Result<Any> {
    match text.as_str().and_then(parse) {
        Some(value) => Ok(value),
        None => plain_bail!(VALUE_ERROR, "{} is not a number", text.as_bytes()),
    }
}

/// Reads a constant. One of the default data type becomes a number, as in every container.
fn constant(node: &MapObject, parse: impl FnOnce(&str) -> Option<Any>) -> Result<Any> {
    let attributes = attributes(node)?;
    let value = number(&required(&attributes, "value")?, parse)?;
    let former = dtype::parse(required::<String>(&attributes, "dtype")?.as_bytes())?;
    Ok(boxed::unwrap(boxed::constant(value.view(), dtype::to_current(former))?))
}

fn primitive(node: &MapObject, parse: impl FnOnce(&str) -> Option<Any>) -> Result<Any> {
    number(&required(node, "repr_str")?, parse)
}

fn string_of(node: &MapObject) -> Result<Any> {
    if let Some(encoded) = field::<String>(node, "repr_b64")? {
        let bytes = base64::decode(encoded.as_bytes())?;
        let mut cursor = Cursor(bytes.as_bytes());
        let length = cursor.u64()?;
        return String::from_bytes(cursor.bytes(length)?).map(Any::from);
    }
    // An empty string has neither field.
    Ok(Any::from(field::<String>(node, "repr_str")?.unwrap_or_default()))
}

/// Decodes the bytes of an object that is stored as bytes.
fn bytes_of(node: &MapObject) -> Result<Bytes> {
    base64::decode(required::<String>(node, "repr_str")?.as_bytes())
}

fn shape_of(bytes: &[u8]) -> Result<Any> {
    let mut cursor = Cursor(bytes);
    let count = cursor.u64()?;
    let mut extents = Buffer::new();
    for _ in 0..count {
        extents.try_push(cursor.u64()?.cast_signed())?;
    }
    Shape::from_slice(&extents).map(Any::from)
}
