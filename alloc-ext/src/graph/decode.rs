//! Decoder: the walk that reconstructs a value from graph nodes.
#![forbid(unsafe_code)]

use core::mem;
use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::{plain_bail, plain_ensure, plain_error};

use super::container::ContainerMaker;
use super::source::{Elements, Entries, Json};
use super::type_cache::is_enum;
use super::{plain, reader};
use crate::json::{self, Tree};
use crate::reflection::{Enum, IntEnum, create_empty};
use crate::walk::{Entered, Field, Fields, Fold, Hooks, fold};

/// Deserialises a value from a graph of JSON values.
///
/// Decodes only nodes reachable from the root, which may be in any order. A node that is referenced
/// twice becomes one shared object.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::{graph, json};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let graph = json::parse(br#"{"root_index": 0, "nodes": [{"type": "int", "data": 7}]}"#)?;
/// assert_eq!(graph::from_json_graph(&graph)?.get::<i64>()?, 7);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError for values that are not a graph, node indices out of range, cycles, and graphs deeper
/// than the limit of [`crate::walk`]; KeyError and TypeError for missing parts or parts of the
/// wrong type; InternalError for an unknown type; RuntimeError for a type that reflection cannot
/// create; errors of hooks, setters and default factories; MemoryError.
///
/// # Upstream
/// `FromJSONGraph` in `extra/serialization.h`, which recurses, and does not terminate for cycles.
pub fn from_json_graph(graph: &Any) -> Result<Any> {
    decode(Json::Value(graph.clone()))
}

/// Deserialises a value from a graph in JSON text.
///
/// Text written by [`to_json_graph_string`](super::to_json_graph_string) is decoded while it is
/// parsed. Objects may then also be created and dropped for nodes that the root does not reach, or
/// before an error is found further on in the text.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::graph;
/// use ferrite_core::Any;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let text = graph::to_json_graph_string(&Any::from(2.5), &Any::NONE)?;
/// assert_eq!(graph::from_json_graph_string(text.as_bytes())?.get::<f64>()?, 2.5);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError for invalid JSON; errors of [`from_json_graph`].
///
/// # Upstream
/// `FromJSONGraphString` in `serialization.cc`.
pub fn from_json_graph_string(text: &[u8]) -> Result<Any> {
    if let Some(value) = reader::read(text) {
        return Ok(value);
    }
    if !Tree::may_have(text) {
        return from_json_graph(&json::parse(text)?);
    }
    from_tree(&Tree::parse(text)?)
}

/// Decodes a graph from parsed JSON text.
pub(super) fn from_tree(tree: &Tree<'_>) -> Result<Any> {
    decode(Json::root(tree))
}

fn decode(graph: Json<'_>) -> Result<Any> {
    let (root, nodes) = parts(graph)?;
    let mut decoder = GraphDecoder {
        made: none_made(nodes.len())?,
        nodes,
        hooks: Hooks::new("__data_from_json__"),
        containers: ContainerMaker::default(),
    };
    fold(&mut decoder, root)
}

/// Returns the root index and the nodes of a graph.
fn parts(graph: Json<'_>) -> Result<(i64, Elements<'_>)> {
    let Some(graph) = graph.try_entries()? else {
        plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph, expected an object");
    };
    let root = match graph.get(b"root_index")? {
        Some(root) => root.into_any()?,
        None => Any::NONE,
    };
    // Booleans are not accepted as integers here.
    plain_ensure!(
        root.type_index() == type_index::INT,
        VALUE_ERROR,
        "Invalid JSON Object Graph, expected `root_index` integer field"
    );
    let nodes = match graph.get(b"nodes")? {
        Some(nodes) => nodes.try_elements()?,
        None => None,
    };
    let Some(nodes) = nodes else {
        plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph, expected `nodes` array field");
    };
    Ok((root.get()?, nodes))
}

fn none_made(len: usize) -> Result<Buffer<Made>> {
    let mut made = Buffer::try_with_capacity(len)?;
    (0..len).try_for_each(|_| made.try_push(Made::NotYet))?;
    Ok(made)
}

struct GraphDecoder<'t> {
    nodes: Elements<'t>,
    made: Buffer<Made>,
    hooks: Hooks,
    containers: ContainerMaker,
}

/// Decoding state of a node.
enum Made {
    NotYet,
    Open,
    Value(Any),
}

struct DecodeFrame<'t> {
    number: usize,
    parts: PartialValue<'t>,
}

/// A container or object being assembled from the values of other nodes.
enum PartialValue<'t> {
    /// A container of type `type_index`, with the node indices of its elements and the values
    /// decoded so far.
    Elements { type_index: i32, numbers: Elements<'t>, values: Buffer<Any> },
    /// An object whose fields are being set. `waiting` is the field whose value is being decoded.
    Fields { object: Any, data: Entries<'t>, fields: Fields, waiting: Option<Field> },
}

impl<'t> Fold for GraphDecoder<'t> {
    type Node = i64;
    type Frame = DecodeFrame<'t>;
    type Value = Any;
    const NAME: &'static str = "FromJSONGraph";

    fn enter(
        &mut self,
        number: i64,
        _: &mut Buffer<DecodeFrame<'t>>,
    ) -> Result<Entered<DecodeFrame<'t>, Any>> {
        match self.reach(number)? {
            Reached::Value(value) => Ok(Entered::Value(value)),
            Reached::Node(number, index, data) => {
                let entered = self.begin(number, index, data)?;
                self.note(
                    number,
                    match &entered {
                        Entered::Value(value) => Made::Value(value.clone()),
                        Entered::Frame(_) | Entered::Open => Made::Open,
                    },
                );
                Ok(entered)
            }
        }
    }

    fn next(&mut self, frame: &mut DecodeFrame<'t>) -> Result<Option<i64>> {
        match &mut frame.parts {
            PartialValue::Elements { numbers, values, .. } => {
                while let Some(number) = numbers.get(values.len()) {
                    let number = number.into_int()?;
                    match self.reach(number)? {
                        Reached::Value(value) => values.try_push(value)?,
                        Reached::Node(..) => return Ok(Some(number)),
                    }
                }
                Ok(None)
            }
            PartialValue::Fields { object, data, fields, waiting } => {
                for field in fields {
                    let Some(number) = set_plain_field(object, data, field)? else { continue };
                    match self.reach(number)? {
                        Reached::Value(value) => field.set(object, &value)?,
                        Reached::Node(..) => {
                            *waiting = Some(field);
                            return Ok(Some(number));
                        }
                    }
                }
                Ok(None)
            }
        }
    }

    fn feed(&mut self, frame: &mut DecodeFrame<'t>, value: Any) -> Result<ControlFlow<Any>> {
        match &mut frame.parts {
            PartialValue::Elements { values, .. } => values.try_push(value)?,
            PartialValue::Fields { object, waiting, .. } => {
                if let Some(field) = waiting.take() {
                    field.set(object, &value)?;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut DecodeFrame<'t>) -> Result<Any> {
        let value = match &mut frame.parts {
            PartialValue::Elements { type_index, values, .. } => {
                self.containers.make(*type_index, values)?
            }
            PartialValue::Fields { object, .. } => mem::take(object),
        };
        self.note(frame.number, Made::Value(value.clone()));
        Ok(value)
    }

    fn abandon(&mut self, _: DecodeFrame<'t>) {}
}

/// Outcome of looking up a node.
enum Reached<'t> {
    /// The value of a node that was already decoded, or has no children.
    Value(Any),
    /// A node that may have children and is not decoded yet: its index, type index and data.
    Node(usize, i32, Json<'t>),
}

impl<'t> GraphDecoder<'t> {
    /// Looks up a node, and decodes it if it has no children.
    fn reach(&mut self, number: i64) -> Result<Reached<'t>> {
        let place = usize::try_from(number).ok();
        let found =
            place.and_then(|place| Some((place, self.made.get(place)?, self.nodes.get(place)?)));
        let Some((number, made, node)) = found else {
            plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph: invalid node index {}", &number);
        };
        match made {
            Made::Value(value) => return Ok(Reached::Value(value.clone())),
            Made::Open => {
                plain_bail!(
                    VALUE_ERROR,
                    "Invalid JSON Object Graph: node {} contains itself",
                    number
                )
            }
            Made::NotYet => {}
        }
        let node = node.into_entries()?;
        let index = node.at(b"type")?.with_string(type_named)?;
        let value = if index == type_index::NONE {
            Any::NONE
        } else {
            let data = node.at(b"data")?;
            if !plain::is_plain(index) {
                return Ok(Reached::Node(number, index, data));
            }
            plain::decode(index, data)?
        };
        self.note(number, Made::Value(value.clone()));
        Ok(Reached::Value(value))
    }

    fn note(&mut self, number: usize, made: Made) {
        if let Some(place) = self.made.get_mut(number) {
            *place = made;
        }
    }

    /// Decodes a node, or returns a frame if its children have to be decoded first.
    fn begin(
        &self,
        number: usize,
        index: i32,
        data: Json<'t>,
    ) -> Result<Entered<DecodeFrame<'t>, Any>> {
        let parts = match index {
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT => {
                PartialValue::elements(index, data)?
            }
            _ => match self.decode_whole(index, data)? {
                Whole::Value(value) => return Ok(Entered::Value(value)),
                Whole::Fields(data) => PartialValue::fields(index, data)?,
            },
        };
        Ok(Entered::Frame(DecodeFrame { number, parts }))
    }

    /// Decodes an enum, or an object whose type has a hook. Otherwise returns the data, to be
    /// decoded field by field.
    fn decode_whole(&self, index: i32, data: Json<'t>) -> Result<Whole<'t>> {
        if is_enum(index) {
            let name = if type_table::is_instance(index, IntEnum::type_index()) {
                Any::from(data.into_int()?)
            } else {
                Any::new(data.into_string()?)
            };
            return Enum::with_index(index, &name).map(|found| Whole::Value(Any::new(found)));
        }
        match self.hooks.of_type(index)? {
            Some(hook) => hook.call_packed(&[data.into_any()?.view()]).map(Whole::Value),
            None => Ok(Whole::Fields(data)),
        }
    }
}

/// Outcome of trying to decode a node without its fields.
enum Whole<'t> {
    /// The decoded value.
    Value(Any),
    /// The data of an object with fields.
    Fields(Json<'t>),
}

impl<'t> PartialValue<'t> {
    fn elements(type_index: i32, data: Json<'t>) -> Result<Self> {
        let numbers = data.into_elements()?;
        let is_map = matches!(type_index, type_index::MAP | type_index::DICT);
        plain_ensure!(
            !is_map || numbers.len().is_multiple_of(2),
            VALUE_ERROR,
            "Invalid JSON Object Graph: Map/Dict data must contain an even number of [key, value] entries, got {}",
            numbers.len()
        );
        let values = Buffer::try_with_capacity(numbers.len())?;
        Ok(Self::Elements { type_index, numbers, values })
    }

    fn fields(type_index: i32, data: Json<'t>) -> Result<Self> {
        let Some(entry) = type_table::type_info(type_index) else {
            plain_bail!(INTERNAL_ERROR, "There is no type with index {}", type_index);
        };
        let object = Any::new(create_empty(entry)?);
        Ok(Self::Fields {
            object,
            data: data.into_entries()?,
            fields: Fields::of(entry),
            waiting: None,
        })
    }
}

/// Sets a field from its data if the field's static type needs no node, or to its default if there
/// is no data. Otherwise returns the node index of its value.
fn set_plain_field(object: &Any, data: &Entries<'_>, field: Field) -> Result<Option<i64>> {
    let Some(data) = data.get(field.name())? else {
        plain_ensure!(
            field.has_default(),
            TYPE_ERROR,
            "Required field `{}` not set in type `{}`",
            field.name(),
            type_table::type_key_of(object.type_index())
        );
        return field.set_default(object).map(|()| None);
    };
    let value = match field.static_type_index() {
        type_index::NONE => Any::NONE,
        index
        @ (type_index::BOOL | type_index::INT | type_index::FLOAT | type_index::DATA_TYPE) => {
            plain::decode(index, data)?
        }
        _ => return data.into_int().map(Some),
    };
    field.set(object, &value).map(|()| None)
}

fn type_named(key: &[u8]) -> Result<i32> {
    type_table::key_to_index(key).ok_or_else(|| {
        plain_error!(
            INTERNAL_ERROR,
            "Check failed: (it != type_key2index_.end()) is false: Cannot find type `{}`",
            key
        )
    })
}
