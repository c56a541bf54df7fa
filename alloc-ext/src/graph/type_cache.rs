//! Cache of type lookups by key: most nodes of a graph have one of few types.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::names::type_table::{self, TypeEntry};
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::words::{self, GOLDEN_RATIO};

use super::plain;
use crate::reflection::Enum;
use crate::walk::{Fields, Hooks};

/// Representation of the data in nodes of a type.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// No `data` field.
    Nothing,
    /// The JSON value of a built-in type without children.
    Plain,
    /// An array of node indices.
    Numbers,
    /// A JSON object of fields with distinct names.
    Fields(&'static TypeEntry),
    /// Any other representation, which the general decoder handles.
    Other,
}

/// A type, with the representation of the data in its nodes.
#[derive(Clone, Copy)]
pub(super) struct NodeType {
    key: &'static [u8],
    pub index: i32,
    pub form: Form,
}

/// Direct-mapped cache of recently used types, by a hash of their keys.
pub(super) struct TypeCache {
    known: [NodeType; CACHE_SLOTS],
    hooks: Hooks,
}

/// Number of cache slots, a power of two.
const CACHE_SLOTS: usize = 32;

impl TypeCache {
    /// Creates an empty cache. Types with one of `hooks` get the form [`Form::Other`].
    pub(super) fn new(hooks: Hooks) -> Self {
        let none = NodeType { key: b"None", index: type_index::NONE, form: Form::Nothing };
        Self { known: [none; CACHE_SLOTS], hooks }
    }

    /// Looks up a type by key; `None` if there is no such type.
    #[inline]
    pub(super) fn named(&mut self, key: &[u8]) -> Option<NodeType> {
        let known = self.known.get_mut(slot_of(key))?;
        if !words::are_same(known.key, key) {
            *known = look_up(key, self.hooks)?;
        }
        Some(*known)
    }
}

/// Returns the cache slot for a key.
#[inline]
fn slot_of(key: &[u8]) -> usize {
    let last = key.last_chunk().map(|word| u64::from_le_bytes(*word));
    let word = last.or_else(|| words::pack_short(key)).unwrap_or_default();
    (word.wrapping_mul(GOLDEN_RATIO) >> 32) as usize % CACHE_SLOTS
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

/// Returns `true` if a type is an enum class.
pub(super) fn is_enum(index: i32) -> bool {
    type_table::is_instance(index, Enum::type_index())
}

/// Returns `true` if all fields of a type have distinct names. A field may repeat the name of an
/// inherited field.
fn has_distinct_fields(entry: &'static TypeEntry) -> bool {
    let mut fields = Fields::of(entry);
    core::iter::from_fn(|| fields.next().map(|field| (field, fields.clone())))
        .all(|(field, mut others)| others.all(|other| other.name() != field.name()))
}
