//! The walk from nodes to a value.
#![forbid(unsafe_code)]

use core::mem;
use core::ops::ControlFlow;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::{plain_bail, plain_ensure, plain_error, type_index, type_table};

use super::container::ContainerMaker;
use super::source::{Elements, Entries, Json};
use super::types::is_enum;
use super::{plain, reader};
use crate::json::{self, Tree};
use crate::reflection::{Enum, IntEnum, create_empty};
use crate::walk::{Entered, Field, Fields, Fold, Hooks, fold};

/// The value that a graph of JSON values describes.
///
/// Only nodes that the root leads to are looked at, in whatever order they are. What they share is shared in the value.
///
/// # Errors
/// ValueError for what is no graph, for numbers without node, and for a node inside itself; KeyError and TypeError for
/// parts that are missing or of another type; InternalError for an unknown type; RuntimeError for a type that cannot be
/// made by reflection; those of hooks, setters and factories of defaults; MemoryError.
///
/// # Upstream
/// `FromJSONGraph` in `extra/serialization.h`. That one recurses, without end where a node is inside itself.
pub fn from_json_graph(graph: &Any) -> Result<Any> {
    decode(Json::Value(graph.clone()))
}

/// The value that the text of a graph describes.
///
/// A text in the form in which graphs are written becomes values while it is read: objects may be made, and dropped again, of
/// nodes that the root does not lead to, and before an error that comes later.
///
/// # Errors
/// ValueError for text that is no JSON; those of [`from_json_graph`].
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

/// The value that the graph in a parsed text describes.
pub(super) fn from_tree(tree: &Tree<'_>) -> Result<Any> {
    decode(Json::root(tree))
}

fn decode(graph: Json<'_>) -> Result<Any> {
    let (root, nodes) = parts(graph)?;
    let mut decoder = Decoder {
        made: none_made(nodes.len())?,
        nodes,
        hooks: Hooks::new("__data_from_json__"),
        containers: ContainerMaker::default(),
    };
    fold(&mut decoder, root)
}

/// The number of the root, and the nodes.
fn parts(graph: Json<'_>) -> Result<(i64, Elements<'_>)> {
    let Some(graph) = graph.try_entries()? else {
        plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph, expected an object");
    };
    let root = match graph.get(b"root_index")? {
        Some(root) => root.into_any()?,
        None => Any::NONE,
    };
    // A bool is no number here.
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

struct Decoder<'t> {
    nodes: Elements<'t>,
    made: Buffer<Made>,
    hooks: Hooks,
    containers: ContainerMaker,
}

/// What there is of the value of a node.
enum Made {
    NotYet,
    Open,
    Value(Any),
}

struct Frame<'t> {
    number: usize,
    parts: Parts<'t>,
}

/// A value that is made of those of other nodes.
enum Parts<'t> {
    /// A container of this type.
    Elements { type_index: i32, numbers: Elements<'t>, values: Buffer<Any> },
    /// An object whose fields are being set; `waiting` is the one whose value is being made.
    Fields { object: Any, data: Entries<'t>, fields: Fields, waiting: Option<Field> },
}

impl<'t> Fold for Decoder<'t> {
    type Node = i64;
    type Frame = Frame<'t>;
    type Value = Any;
    const NAME: &'static str = "FromJSONGraph";

    fn enter(&mut self, number: i64, _: &mut Buffer<Frame<'t>>) -> Result<Entered<Frame<'t>, Any>> {
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

    fn next(&mut self, frame: &mut Frame<'t>) -> Result<Option<i64>> {
        match &mut frame.parts {
            Parts::Elements { numbers, values, .. } => {
                while let Some(number) = numbers.get(values.len()) {
                    let number = number.into_int()?;
                    match self.reach(number)? {
                        Reached::Value(value) => values.try_push(value)?,
                        Reached::Node(..) => return Ok(Some(number)),
                    }
                }
                Ok(None)
            }
            Parts::Fields { object, data, fields, waiting } => {
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

    fn feed(&mut self, frame: &mut Frame<'t>, value: Any) -> Result<ControlFlow<Any>> {
        match &mut frame.parts {
            Parts::Elements { values, .. } => values.try_push(value)?,
            Parts::Fields { object, waiting, .. } => {
                if let Some(field) = waiting.take() {
                    field.set(object, &value)?;
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut Frame<'t>) -> Result<Any> {
        let value = match &mut frame.parts {
            Parts::Elements { type_index, values, .. } => self.containers.make(*type_index, values)?,
            Parts::Fields { object, .. } => mem::take(object),
        };
        self.note(frame.number, Made::Value(value.clone()));
        Ok(value)
    }

    fn abandon(&mut self, _: Frame<'t>) {}
}

/// What a number leads to.
enum Reached<'t> {
    /// A value that was made before, or could be made at once.
    Value(Any),
    /// A node of this number and type, with this data, which is still to be made.
    Node(usize, i32, Json<'t>),
}

impl<'t> Decoder<'t> {
    /// Looks for the value of a node, and makes it where it has no children.
    fn reach(&mut self, number: i64) -> Result<Reached<'t>> {
        let place = usize::try_from(number).ok();
        let found = place.and_then(|place| Some((place, self.made.get(place)?, self.nodes.get(place)?)));
        let Some((number, made, node)) = found else {
            plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph: invalid node index {}", &number);
        };
        match made {
            Made::Value(value) => return Ok(Reached::Value(value.clone())),
            Made::Open => {
                plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph: node {} contains itself", number)
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

    /// The value of a node, or how it begins.
    fn begin(&self, number: usize, index: i32, data: Json<'t>) -> Result<Entered<Frame<'t>, Any>> {
        let parts = match index {
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT => {
                Parts::elements(index, data)?
            }
            _ => match self.decode_whole(index, data)? {
                Whole::Value(value) => return Ok(Entered::Value(value)),
                Whole::Fields(data) => Parts::fields(index, data)?,
            },
        };
        Ok(Entered::Frame(Frame { number, parts }))
    }

    /// The enum, or what a hook makes of the data, unless objects of the type are made of fields.
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
            Some(hook) => hook.call(&[data.into_any()?.view()]).map(Whole::Value),
            None => Ok(Whole::Fields(data)),
        }
    }
}

/// What the type of a node with fields, as it seems, makes of its data.
enum Whole<'t> {
    /// All of the value.
    Value(Any),
    /// Nothing: these are the fields.
    Fields(Json<'t>),
}

impl<'t> Parts<'t> {
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
        Ok(Self::Fields { object, data: data.into_entries()?, fields: Fields::of(entry), waiting: None })
    }
}

/// Sets a field to plain data or its default; answers the number of the node that has its value, where there is one.
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
        index @ (type_index::BOOL | type_index::INT | type_index::FLOAT | type_index::DATA_TYPE) => {
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
