//! Lookup of type indices by key: a name table of all types except the built-in ones.

use crate::platform::sync::atomic::{AtomicI32, Ordering};
use core::marker::PhantomData;

use crate::error::Result;
use crate::names::name_table::{Entry, NameTable};

/// Value of a key whose type is not registered yet.
const NO_INDEX: i32 = -1;

pub(crate) static INDEX_OF_KEY: NameTable<AtomicI32> = NameTable::new();

/// Finds the index of a registered type by key.
pub(in crate::names::type_table) fn index_of(key: &[u8]) -> Option<i32> {
    index_in(INDEX_OF_KEY.get(key)?)
}

fn index_in(entry: &Entry<AtomicI32>) -> Option<i32> {
    let index = entry.value.load(Ordering::Acquire);
    (index != NO_INDEX).then_some(index)
}

/// A key in the table. Its type may or may not be registered.
pub(in crate::names::type_table) struct Key<'a> {
    entry: &'static Entry<AtomicI32>,
    request: PhantomData<&'a [u8]>,
}

/// Adds a key to the table. Called before the registry's lock is taken.
pub(in crate::names::type_table) fn reserve(key: &[u8]) -> Result<Key<'_>> {
    let entry = INDEX_OF_KEY.get_or_insert(key, || AtomicI32::new(NO_INDEX))?;
    Ok(Key { entry, request: PhantomData })
}

impl Key<'_> {
    /// Returns the index of the key's type if it is registered.
    pub(in crate::names::type_table) fn index(&self) -> Option<i32> {
        index_in(self.entry)
    }

    /// Publishes the index of the key's type.
    pub(in crate::names::type_table) fn publish(&self, index: i32) {
        self.entry.value.store(index, Ordering::Release);
    }
}
