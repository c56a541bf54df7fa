//! Indices of registered types by key, hashed; the built-in ones are not in it.

use crate::sync::atomic::{AtomicI32, Ordering};
use core::marker::PhantomData;

use crate::error::Result;
use crate::name_table::{Entry, NameTable};

/// A key whose type is not there (yet).
const NO_INDEX: i32 = -1;

pub(crate) static INDEX_OF_KEY: NameTable<AtomicI32> = NameTable::new();

/// The index of the registered type with this key.
pub(in crate::type_table) fn index_of(key: &[u8]) -> Option<i32> {
    index_in(INDEX_OF_KEY.get(key)?)
}

fn index_in(entry: &Entry<AtomicI32>) -> Option<i32> {
    let index = entry.value.load(Ordering::Acquire);
    (index != NO_INDEX).then_some(index)
}

/// A key that the table has, for a type that it may have.
pub(in crate::type_table) struct Key<'a> {
    entry: &'static Entry<AtomicI32>,
    request: PhantomData<&'a [u8]>,
}

/// Gives a key a place in the table, before the registry's lock is taken.
pub(in crate::type_table) fn reserve(key: &[u8]) -> Result<Key<'_>> {
    let entry = INDEX_OF_KEY.get_or_insert(key, || AtomicI32::new(NO_INDEX))?;
    Ok(Key { entry, request: PhantomData })
}

impl Key<'_> {
    /// The index, once published.
    pub(in crate::type_table) fn index(&self) -> Option<i32> {
        index_in(self.entry)
    }

    /// Shows the index to everybody.
    pub(in crate::type_table) fn publish(&self, index: i32) {
        self.entry.value.store(index, Ordering::Release);
    }
}
