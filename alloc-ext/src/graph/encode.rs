//! The walk from a value to nodes.
#![forbid(unsafe_code)]

use core::mem;
use core::ops::ControlFlow;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::text::Lossy;
use ferrite_core::{bail, type_index, type_table};

use super::node::{Data, Nodes};
use super::numbers::Numbers;
use super::plain;
use crate::reflection::{Enum, IntEnum, has_creator};
use crate::walk::{Children, ChildrenKind, Entered, Field, Fold, Hooks, fold};

/// Gives `nodes` everything in a value, which is the last node; its number is the answer.
///
/// # Errors
///
/// Those of [`to_json_graph`](super::to_json_graph).
pub(super) fn encode(value: &Any, nodes: &mut dyn Nodes) -> Result<i64> {
    let mut encoder = Encoder { nodes, numbers: Numbers::new()?, hooks: Hooks::new("__data_to_json__") };
    fold(&mut encoder, value.clone())
}

struct Encoder<'n> {
    nodes: &'n mut dyn Nodes,
    numbers: Numbers,
    hooks: Hooks,
}

struct Frame {
    value: Any,
    children: Children,
    next: usize,
    /// Numbers of the elements or entries so far.
    numbers: Buffer<i64>,
    /// Names and values of the fields so far.
    fields: Buffer<(&'static [u8], Any)>,
}

impl Fold for Encoder<'_> {
    type Node = Any;
    type Frame = Frame;
    type Value = i64;
    const NAME: &'static str = "ToJSONGraph";

    fn enter(&mut self, value: Any) -> Result<Entered<Frame, i64>> {
        if let Some(number) = self.numbers.get(&value)? {
            return Ok(Entered::Value(number));
        }
        if plain::encode(&value, self.nodes)? || self.encode_whole(&value)? {
            return self.numbers.add(&value).map(Entered::Value);
        }
        self.numbers.open(&value)?;
        let children = Children::of(&value, 0)?;
        Ok(Entered::Frame(Frame { value, children, next: 0, numbers: Buffer::new(), fields: Buffer::new() }))
    }

    fn next(&mut self, frame: &mut Frame) -> Result<Option<Any>> {
        loop {
            let Some(child) = frame.children.values.get_mut(frame.next).map(mem::take) else {
                return Ok(None);
            };
            let field = frame.children.fields.get(frame.next).copied();
            frame.next += 1;
            let Some(field) = field else { return Ok(Some(child)) };
            let Some(value) = plain_field(field, &child)? else { return Ok(Some(child)) };
            frame.set_field(field, value)?;
        }
    }

    fn feed(&mut self, frame: &mut Frame, number: i64) -> Result<ControlFlow<i64>> {
        match frame.children.fields.get(frame.next.wrapping_sub(1)).copied() {
            Some(field) => frame.set_field(field, Any::from(number))?,
            None => frame.numbers.try_push(number)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut Frame) -> Result<i64> {
        let data = match frame.children.kind {
            ChildrenKind::Fields => Data::Fields(&frame.fields),
            ChildrenKind::Sequence | ChildrenKind::Map => Data::Integers(&frame.numbers),
        };
        self.nodes.push(type_table::type_key_of(frame.value.type_index()), data)?;
        self.numbers.add(&frame.value)
    }

    fn abandon(&mut self, _: Frame) {}
}

impl Frame {
    /// Sets a field, the value of which replaces that of an inherited field of the same name.
    fn set_field(&mut self, field: Field, value: Any) -> Result<()> {
        match self.fields.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, old)) => *old = value,
            None => self.fields.try_push((field.name(), value))?,
        }
        Ok(())
    }
}

/// The JSON value of a field whose type needs no node.
fn plain_field(field: Field, value: &Any) -> Result<Option<Any>> {
    Ok(Some(match field.static_type_index() {
        type_index::NONE => Any::NONE,
        type_index::BOOL => Any::from(value.get::<bool>()?),
        type_index::INT => Any::from(value.get::<i64>()?),
        type_index::FLOAT => Any::from(value.get::<f64>()?),
        type_index::DATA_TYPE => plain::dtype_text(value)?,
        _ => return Ok(None),
    }))
}

impl Encoder<'_> {
    /// Writes the node of an enum, or of an object whose type has a hook; answers false for a value with children.
    fn encode_whole(&mut self, value: &Any) -> Result<bool> {
        let index = value.type_index();
        if matches!(index, type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT) {
            return Ok(false);
        }
        let data = if index < type_index::STATIC_OBJECT_BEGIN {
            bail!(RUNTIME_ERROR, "Cannot serialize type `{}`", Lossy(type_table::type_key_of(index)));
        } else if let Some(instance) = value.try_get::<Enum>()? {
            let is_number = type_table::is_instance(index, IntEnum::type_index());
            if is_number { Any::from(instance.int_index()) } else { Any::new(instance.str_index()) }
        } else if let Some(hook) = self.hooks.of(value)? {
            hook.call(&[value.view()])?
        } else if type_table::type_info(index).is_some_and(has_creator) {
            return Ok(false);
        } else {
            bail!(
                TYPE_ERROR,
                "Type `{}` does not support ToJSONGraph (no native creator or __ffi_new__ type attr)",
                Lossy(type_table::type_key_of(index))
            );
        };
        self.nodes.push(type_table::type_key_of(index), Data::Value(&data)).map(|()| true)
    }
}
