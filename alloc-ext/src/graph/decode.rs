//! The walk from nodes to a value.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::any::Any;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::string::String;
use ferrite_core::{plain_bail, plain_ensure, plain_error, type_index, type_table};

use super::plain;
use crate::containers::{Array, ArrayObject, DictObject, ListObject, Map, MapObject};
use crate::json;
use crate::reflection::{Enum, IntEnum, create_empty};
use crate::walk::{Entered, Field, Fields, Fold, Hooks, fold};

/// The value that a graph of JSON values describes.
///
/// Only nodes that the root leads to are looked at, in whatever order they are. What they share is shared in the value.
///
/// # Errors
///
/// ValueError for what is no graph, for numbers without node, and for a node inside itself; KeyError and TypeError for
/// parts that are missing or of another type; InternalError for an unknown type; RuntimeError for a type that cannot be
/// made by reflection; those of hooks, setters and factories of defaults; MemoryError.
///
/// # Upstream
///
/// `FromJSONGraph` in `extra/serialization.h`. That one recurses, without end where a node is inside itself.
pub fn from_json_graph(graph: &Any) -> Result<Any> {
    let (root, nodes) = parts(graph)?;
    let mut decoder = Decoder {
        made: none_made(nodes.len())?,
        nodes,
        type_key: String::new("type")?,
        data_key: String::new("data")?,
        hooks: Hooks::new("__data_from_json__"),
    };
    fold(&mut decoder, root)
}

/// The value that the text of a graph describes.
///
/// # Errors
///
/// ValueError for text that is no JSON; those of [`from_json_graph`].
///
/// # Upstream
///
/// `FromJSONGraphString` in `serialization.cc`.
pub fn from_json_graph_string(text: &[u8]) -> Result<Any> {
    from_json_graph(&json::parse(text)?)
}

/// The number of the root, and the nodes.
fn parts(graph: &Any) -> Result<(i64, ArrayObject)> {
    let Some(graph) = graph.try_get::<MapObject>()? else {
        plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph, expected an object");
    };
    let part =
        |name: &str| graph.get(String::new(name)?.view()).map(|part| part.cloned().unwrap_or_default());
    let root = part("root_index")?;
    // A bool is no number here.
    plain_ensure!(
        root.type_index() == type_index::INT,
        VALUE_ERROR,
        "Invalid JSON Object Graph, expected `root_index` integer field"
    );
    let nodes = part("nodes")?.try_get::<ArrayObject>()?.ok_or_else(|| {
        plain_error!(VALUE_ERROR, "Invalid JSON Object Graph, expected `nodes` array field")
    })?;
    Ok((root.get()?, nodes))
}

fn none_made(len: usize) -> Result<Buffer<Made>> {
    let mut made = Buffer::try_with_capacity(len)?;
    (0..len).try_for_each(|_| made.try_push(Made::NotYet))?;
    Ok(made)
}

struct Decoder {
    nodes: ArrayObject,
    made: Buffer<Made>,
    type_key: String,
    data_key: String,
    hooks: Hooks,
}

/// What there is of the value of a node.
enum Made {
    NotYet,
    Open,
    Value(Any),
}

struct Frame {
    number: usize,
    parts: Parts,
}

/// A value that is made of those of other nodes.
enum Parts {
    /// A container of this type.
    Elements { type_index: i32, numbers: Array<Any>, values: Buffer<Any> },
    /// An object whose fields are being set; `waiting` is the one whose value is being made.
    Fields { object: Any, data: Map<Any, Any>, fields: Fields, waiting: Option<Field> },
}

impl Fold for Decoder {
    type Node = i64;
    type Frame = Frame;
    type Value = Any;
    const NAME: &'static str = "FromJSONGraph";

    fn enter(&mut self, number: i64) -> Result<Entered<Frame, Any>> {
        let place = usize::try_from(number).ok().filter(|place| *place < self.nodes.len());
        let Some(number) = place else {
            plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph: invalid node index {}", &number);
        };
        match self.made.get(number) {
            Some(Made::Value(value)) => return Ok(Entered::Value(value.clone())),
            Some(Made::Open) => {
                plain_bail!(VALUE_ERROR, "Invalid JSON Object Graph: node {} contains itself", number)
            }
            Some(Made::NotYet) | None => {}
        }
        let entered = self.begin(number)?;
        self.note(
            number,
            match &entered {
                Entered::Value(value) => Made::Value(value.clone()),
                Entered::Frame(_) => Made::Open,
            },
        );
        Ok(entered)
    }

    fn next(&mut self, frame: &mut Frame) -> Result<Option<i64>> {
        match &mut frame.parts {
            Parts::Elements { numbers, values, .. } => {
                numbers.as_slice().get(values.len()).map(Any::get).transpose()
            }
            Parts::Fields { object, data, fields, waiting } => {
                for field in fields {
                    if let Some(number) = set_plain_field(object, data.as_untyped(), field)? {
                        *waiting = Some(field);
                        return Ok(Some(number));
                    }
                }
                Ok(None)
            }
        }
    }

    fn feed(&mut self, frame: &mut Frame, value: Any) -> Result<ControlFlow<Any>> {
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

    fn leave(&mut self, frame: &mut Frame) -> Result<Any> {
        let value = match &frame.parts {
            Parts::Elements { type_index, values, .. } => container_of(*type_index, values)?,
            Parts::Fields { object, .. } => object.clone(),
        };
        self.note(frame.number, Made::Value(value.clone()));
        Ok(value)
    }

    fn abandon(&mut self, _: Frame) {}
}

impl Decoder {
    fn note(&mut self, number: usize, made: Made) {
        if let Some(place) = self.made.get_mut(number) {
            *place = made;
        }
    }

    /// The value of a node, or how it begins.
    fn begin(&self, number: usize) -> Result<Entered<Frame, Any>> {
        let node: Map<Any, Any> = self.nodes.get(number as i64)?.get()?;
        let node = node.as_untyped();
        let index = type_named(&node.at(self.type_key.view())?.get()?)?;
        if index == type_index::NONE {
            return Ok(Entered::Value(Any::NONE));
        }
        let data = node.at(self.data_key.view())?;
        if let Some(value) = plain::decode(index, data)? {
            return Ok(Entered::Value(value));
        }
        let parts = match index {
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT => {
                Parts::elements(index, data)?
            }
            _ => match self.decode_whole(index, data)? {
                Some(value) => return Ok(Entered::Value(value)),
                None => Parts::fields(index, data)?,
            },
        };
        Ok(Entered::Frame(Frame { number, parts }))
    }

    /// The enum, or what a hook makes of the data; None for a type whose objects are made of fields.
    fn decode_whole(&self, index: i32, data: &Any) -> Result<Option<Any>> {
        if is_a::<IntEnum>(index) {
            return Enum::with_index(index, &Any::from(data.get::<i64>()?))
                .map(|found| Some(Any::new(found)));
        }
        if is_a::<Enum>(index) {
            return Enum::with_index(index, &Any::new(data.get::<String>()?))
                .map(|found| Some(Any::new(found)));
        }
        self.hooks.of_type(index)?.map(|hook| hook.call(&[data.view()])).transpose()
    }
}

impl Parts {
    fn elements(type_index: i32, data: &Any) -> Result<Self> {
        let numbers: Array<Any> = data.get()?;
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

    fn fields(type_index: i32, data: &Any) -> Result<Self> {
        let Some(entry) = type_table::type_info(type_index) else {
            plain_bail!(INTERNAL_ERROR, "There is no type with index {}", type_index);
        };
        let object = Any::new(create_empty(entry)?);
        Ok(Self::Fields { object, data: data.get()?, fields: Fields::of(entry), waiting: None })
    }
}

fn is_a<T: ObjectClass>(index: i32) -> bool {
    type_table::is_instance(index, T::type_index())
}

/// Sets a field to plain data or its default; answers the number of the node that has its value, where there is one.
fn set_plain_field(object: &Any, data: &MapObject, field: Field) -> Result<Option<i64>> {
    let Some(data) = data.get(String::from_bytes(field.name())?.view())? else {
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
            plain::decode(index, data)?.unwrap_or_default()
        }
        _ => return data.get().map(Some),
    };
    field.set(object, &value).map(|()| None)
}

fn container_of(type_index: i32, values: &[Any]) -> Result<Any> {
    match type_index {
        type_index::ARRAY => ArrayObject::from_slice(values).map(Any::new),
        type_index::LIST => ListObject::from_slice(values).map(Any::new),
        type_index::MAP => {
            let mut map = MapObject::with_capacity(0)?;
            for_each_entry(values, |key, value| map.insert(key, value))?;
            Ok(Any::new(map))
        }
        _ => {
            let dict = DictObject::with_capacity(0)?;
            for_each_entry(values, |key, value| dict.insert(key, value))?;
            Ok(Any::new(dict))
        }
    }
}

fn for_each_entry(values: &[Any], mut insert: impl FnMut(Any, Any) -> Result<()>) -> Result<()> {
    let (entries, _) = values.as_chunks::<2>();
    entries.iter().try_for_each(|[key, value]| insert(key.clone(), value.clone()))
}

fn type_named(key: &String) -> Result<i32> {
    type_table::key_to_index(key.as_bytes()).ok_or_else(|| {
        plain_error!(
            INTERNAL_ERROR,
            "Check failed: (it != type_key2index_.end()) is false: Cannot find type `{}`",
            key
        )
    })
}
