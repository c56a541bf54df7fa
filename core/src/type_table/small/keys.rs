//! Registered types by key: a walk over the few that a board has.

use crate::error::Result;

use super::slots;

/// The index of the registered type with this key.
#[inline(never)]
pub(super) fn index_of(key: &[u8]) -> Option<i32> {
    slots::all().find(|entry| entry.type_key() == key).map(|entry| entry.type_index())
}

/// A key for a type that the list may have.
pub(super) struct Key<'a>(&'a [u8]);

/// Needs no preparation.
pub(super) fn reserve(key: &[u8]) -> Result<Key<'_>> {
    Ok(Key(key))
}

impl Key<'_> {
    /// The index, once its type is in the list.
    pub(super) fn index(&self) -> Option<i32> {
        index_of(self.0)
    }

    /// The type in the list shows it.
    pub(super) fn publish(&self, _: i32) {}
}
