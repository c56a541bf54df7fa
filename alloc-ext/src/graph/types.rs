//! Types by key, as nodes name them, with a cache: few keys come again and again.
#![forbid(unsafe_code)]

use ferrite_core::object::ObjectClass;
use ferrite_core::type_index;
use ferrite_core::type_table::{self, TypeEntry};
use ferrite_core::words::{self, GOLDEN_RATIO};

use super::plain;
use crate::reflection::Enum;
use crate::walk::{Fields, Hooks};

/// What the nodes of a type have for data.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// None at all.
    Nothing,
    /// That of a value without children.
    Plain,
    /// Numbers of nodes.
    Numbers,
    /// Fields, no two of the same name.
    Fields(&'static TypeEntry),
    /// What takes a closer look.
    Other,
}

/// A type that a node named.
#[derive(Clone, Copy)]
pub(super) struct NodeType {
    key: &'static [u8],
    pub index: i32,
    pub form: Form,
}

/// The types that were named last, by some bits of their keys.
pub(super) struct Types {
    known: [NodeType; PLACES],
    hooks: Hooks,
}

/// A power of two.
const PLACES: usize = 32;

impl Types {
    /// None yet; those with one of the hooks are of another form.
    pub(super) fn new(hooks: Hooks) -> Self {
        let none = NodeType { key: b"None", index: type_index::NONE, form: Form::Nothing };
        Self { known: [none; PLACES], hooks }
    }

    /// The type with a key; None when there is no such type.
    #[inline]
    pub(super) fn named(&mut self, key: &[u8]) -> Option<NodeType> {
        let known = self.known.get_mut(place_of(key))?;
        if !words::are_same(known.key, key) {
            *known = look_up(key, self.hooks)?;
        }
        Some(*known)
    }
}

/// Where the type with a key is remembered.
#[inline]
fn place_of(key: &[u8]) -> usize {
    let last = key.last_chunk().map(|word| u64::from_le_bytes(*word));
    let word = last.or_else(|| words::short(key)).unwrap_or_default();
    (word.wrapping_mul(GOLDEN_RATIO) >> 32) as usize % PLACES
}

#[cold]
fn look_up(key: &[u8], hooks: Hooks) -> Option<NodeType> {
    let index = type_table::key_to_index(key)?;
    let form = match index {
        type_index::NONE => Form::Nothing,
        type_index::ARRAY | type_index::LIST | type_index::MAP | type_index::DICT => Form::Numbers,
        _ if plain::is_plain(index) => Form::Plain,
        _ if is_enum(index) || !hooks.value(index).is_none() => Form::Other,
        _ => type_table::type_info(index)
            .filter(|entry| has_distinct_fields(entry))
            .map_or(Form::Other, Form::Fields),
    };
    Some(NodeType { key: type_table::type_key_of(index), index, form })
}

/// Whether a type is one of enums.
pub(super) fn is_enum(index: i32) -> bool {
    type_table::is_instance(index, Enum::type_index())
}

/// Whether no two fields have the same name, as those of a type and of its ancestor may.
fn has_distinct_fields(entry: &'static TypeEntry) -> bool {
    let mut fields = Fields::of(entry);
    core::iter::from_fn(|| fields.next().map(|field| (field, fields.clone())))
        .all(|(field, mut others)| others.all(|other| other.name() != field.name()))
}
