//! Registered types by key: a linear search of the types, which are few in small builds.

use crate::error::Result;

use super::super::slots;

/// The index of the registered type with this key.
#[inline(never)]
pub(in crate::type_table) fn index_of(key: &[u8]) -> Option<i32> {
    slots::all().find(|entry| entry.type_key() == key).map(|entry| entry.type_index())
}

/// A key for a type that the list may have.
pub(in crate::type_table) struct Key<'a>(&'a [u8]);

/// Needs no preparation.
pub(in crate::type_table) fn reserve(key: &[u8]) -> Result<Key<'_>> {
    Ok(Key(key))
}

impl Key<'_> {
    /// The index, once its type is in the list.
    pub(in crate::type_table) fn index(&self) -> Option<i32> {
        index_of(self.0)
    }

    /// The type in the list shows it.
    pub(in crate::type_table) fn publish(&self, _: i32) {}
}
