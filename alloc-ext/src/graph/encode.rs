//! Encoder: the walk that writes a value as graph nodes.
#![forbid(unsafe_code)]

use core::ops::ControlFlow;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use super::node::{Data, Nodes};
use super::numbers::{Found, Numbers, Opened};
use super::plain;
use crate::reflection::{Enum, IntEnum, has_creator};
use crate::walk::{Children, ChildrenKind, Entered, Field, Fold, Hooks, MaybeOwned, fold};

/// Pushes the nodes for a value and everything reachable from it, children first. Returns the node
/// index of the value.
///
/// # Errors
/// Errors of [`to_json_graph`](super::to_json_graph).
pub(super) fn encode(value: &Any, nodes: &mut dyn Nodes) -> Result<i64> {
    let mut encoder =
        Encoder { nodes, numbers: Numbers::default(), hooks: Hooks::new("__data_to_json__") };
    fold(&mut encoder, value.clone())
}

struct Encoder<'n> {
    nodes: &'n mut dyn Nodes,
    numbers: Numbers,
    hooks: Hooks,
}

struct EncodeFrame {
    type_index: i32,
    opened: Opened,
    children: Children<'static>,
    /// Node indices of the elements, or keys and values, encoded so far.
    numbers: Buffer<i64>,
    /// Names and JSON values of the fields encoded so far.
    fields: Buffer<(&'static [u8], Any)>,
}

impl Fold for Encoder<'_> {
    type Node = Any;
    type Frame = EncodeFrame;
    type Value = i64;
    const NAME: &'static str = "ToJSONGraph";

    fn enter(
        &mut self,
        value: Any,
        _: &mut Buffer<EncodeFrame>,
    ) -> Result<Entered<EncodeFrame, i64>> {
        let hash = match self.numbers.find(&value)? {
            Found::Number(number) => return Ok(Entered::Value(number)),
            Found::Vacant(hash) => hash,
        };
        if plain::encode(&value, self.nodes)? || self.encode_whole(&value)? {
            let opened = self.numbers.open(value, hash)?;
            return Ok(Entered::Value(self.numbers.close(opened)));
        }
        let children = Children::of_value(&value)?;
        let type_index = value.type_index();
        let opened = self.numbers.open(value, hash)?;
        Ok(Entered::Frame(EncodeFrame {
            type_index,
            opened,
            children,
            numbers: Buffer::new(),
            fields: Buffer::new(),
        }))
    }

    fn next(&mut self, frame: &mut EncodeFrame) -> Result<Option<Any>> {
        loop {
            let Some(child) = frame.children.take().map(MaybeOwned::into_owned) else {
                return Ok(None);
            };
            let Some(field) = frame.field() else { return Ok(Some(child)) };
            let Some(value) = plain_field(field, &child)? else { return Ok(Some(child)) };
            frame.set_field(field, value)?;
        }
    }

    fn feed(&mut self, frame: &mut EncodeFrame, number: i64) -> Result<ControlFlow<i64>> {
        match frame.field() {
            Some(field) => frame.set_field(field, Any::from(number))?,
            None => frame.numbers.try_push(number)?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn leave(&mut self, frame: &mut EncodeFrame) -> Result<i64> {
        let data = match frame.children.kind {
            ChildrenKind::Fields => Data::Fields(&frame.fields),
            ChildrenKind::Sequence | ChildrenKind::Map => Data::Integers(&frame.numbers),
        };
        self.nodes.push(type_table::type_key_of(frame.type_index), data)?;
        Ok(self.numbers.close(frame.opened))
    }

    fn abandon(&mut self, _: EncodeFrame) {}
}

impl EncodeFrame {
    /// Returns the field visited last; `None` for a container.
    fn field(&self) -> Option<Field> {
        self.children.last_field().map(|(field, _)| field)
    }

    /// Sets the JSON value of a field. Replaces the value of an inherited field with the same name.
    fn set_field(&mut self, field: Field, value: Any) -> Result<()> {
        match self.fields.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, old)) => *old = value,
            None => self.fields.try_push((field.name(), value))?,
        }
        Ok(())
    }
}

/// Returns the JSON value of a field whose static type needs no node; `None` for other fields.
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
    /// Pushes the node of an enum or of an object whose type has a hook. Returns `false` for a
    /// value to be encoded by its children.
    fn encode_whole(&mut self, value: &Any) -> Result<bool> {
        let index = value.type_index();
        if matches!(
            index,
            type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT
        ) {
            return Ok(false);
        }
        let data = if index < type_index::STATIC_OBJECT_BEGIN {
            plain_bail!(
                RUNTIME_ERROR,
                "Cannot serialize type `{}`",
                type_table::type_key_of(index)
            );
        } else if let Some(instance) = value.try_get::<Enum>()? {
            let is_number = type_table::is_instance(index, IntEnum::type_index());
            if is_number { Any::from(instance.int_index()) } else { Any::new(instance.str_index()) }
        } else if let Some(hook) = self.hooks.of(value)? {
            hook.call_packed(&[value.view()])?
        } else if type_table::type_info(index).is_some_and(has_creator) {
            return Ok(false);
        } else {
            plain_bail!(
                TYPE_ERROR,
                "Type `{}` does not support ToJSONGraph (no native creator or __ffi_new__ type attr)",
                type_table::type_key_of(index)
            );
        };
        self.nodes.push(type_table::type_key_of(index), Data::Value(&data)).map(|()| true)
    }
}
