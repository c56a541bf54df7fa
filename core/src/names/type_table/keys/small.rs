//! Lookup of registered types by key: a linear search, since types are few in size-optimised
//! builds.

use crate::error::Result;

use super::super::slots;

/// Finds the index of a registered type by key.
#[inline(never)]
pub(in crate::names::type_table) fn index_of(key: &[u8]) -> Option<i32> {
    slots::all().find(|entry| entry.type_key() == key).map(|entry| entry.type_index())
}

/// A key. Its type may or may not be registered.
pub(in crate::names::type_table) struct Key<'a>(&'a [u8]);

/// Wraps a key; reserves nothing.
pub(in crate::names::type_table) fn reserve(key: &[u8]) -> Result<Key<'_>> {
    Ok(Key(key))
}

impl Key<'_> {
    /// Returns the index of the key's type if it is registered.
    pub(in crate::names::type_table) fn index(&self) -> Option<i32> {
        index_of(self.0)
    }

    /// Does nothing: the list of types contains the index.
    pub(in crate::names::type_table) fn publish(&self, _: i32) {}
}
