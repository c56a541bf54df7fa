//! Untyped mutable map in insertion order, changed in place through all references.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object_alloc::Apart;
use ferrite_core::{object_class, type_index};

use crate::containers::cell;
use crate::containers::map::MapObject;
use crate::containers::table::{self, Table, missing_key};

object_class!(
    /// A reference to a dict object with keys and values of any type. Its type key, also used in signatures, is `ffi.Dict`.
    ///
    /// All references see every change. Growth replaces the storage, and possibly its layout, inside the object. The
    /// equality of keys is defined in [`key`](crate::containers::key). The entry order is the same as in a [`MapObject`].
    ///
    /// Threads: a dict is not synchronised. While one thread changes it, no other thread may use it; the owners must ensure
    /// this.
    ///
    /// # Upstream
    /// `DictObj` in `include/tvm/ffi/container/dict.h`.
    pub struct DictObject, type_index::DICT, "ffi.Dict"
);

impl DictObject {
    /// Creates an empty dict, in the layout that upstream chooses for `expected` entries.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        table::allocate_for(type_index::DICT, expected, &mut Apart).map(Self)
    }

    fn table(&self) -> Table<'_> {
        // SAFETY: this type only holds dicts.
        unsafe { Table::of(&self.0) }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Returns `true` if the dict has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an owned copy of the value of `key`; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if a hook changed the dict; MemoryError if a raw string must be copied.
    pub fn get(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // Dropped last: the release of an owned key may run user callbacks, which may change the dict.
        let owned = cell::owned_form(&key)?;
        let entry = self.table().find_entry(&owned.as_ref().map_or(key, Any::view))?;
        // SAFETY: one thread at a time uses the dict, and no user callback runs before the value is copied.
        Ok(entry.map(|entry| unsafe { entry.copy_value() }))
    }

    /// Returns an owned copy of the value of `key`.
    ///
    /// # Errors
    /// KeyError if the key is not present; errors of [`get`](Self::get).
    pub fn at(&self, key: AnyView<'_>) -> Result<Any> {
        self.get(key)?.ok_or_else(missing_key)
    }

    /// Returns `true` if `key` is present.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get).
    pub fn contains(&self, key: AnyView<'_>) -> Result<bool> {
        Ok(self.table().find_entry_of_any(&key)?.is_some())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get); MemoryError if the dict must grow. On failure the entries are unchanged.
    pub fn insert(&self, key: Any, value: Any) -> Result<()> {
        // SAFETY: one thread at a time uses the dict.
        unsafe { table::insert(&self.0, key, value) }
    }

    /// Removes the entry of a key. Returns its value; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get).
    pub fn remove(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // An owned form of the key lives until the entry is removed: its release may run user callbacks.
        let owned = cell::owned_form(&key)?;
        let slot = self.table().find(&owned.as_ref().map_or(key, Any::view))?;
        // SAFETY: one thread at a time uses the dict.
        Ok(unsafe { self.table().remove(slot) })
    }

    /// Removes all entries, and keeps the storage.
    ///
    /// Releasing an entry may run user callbacks that change the dict; the dict is in a consistent state then.
    pub fn clear(&self) {
        for _ in 0..self.len() {
            let Some(slot) = self.table().first() else { return };
            // SAFETY: one thread at a time uses the dict.
            drop(unsafe { self.table().remove(slot) });
        }
    }

    /// Returns an iterator over owned copies of the entries in order. Entries added or removed during the iteration may or
    /// may not be returned.
    pub fn iter(&self) -> DictEntries {
        DictEntries { dict: self.clone(), next: self.first_slot() }
    }

    /// Returns the slot of the first entry in order; `None` if the dict is empty.
    pub(crate) fn first_slot(&self) -> Option<u64> {
        self.table().first().map(|slot| slot as u64)
    }

    /// Returns the slot of the next entry in order; `None` at the end, or if there is no entry at `slot`.
    pub(crate) fn next_slot(&self, slot: u64) -> Option<u64> {
        self.table().next(slot as usize).map(|slot| slot as u64)
    }

    /// Returns owned copies of the key and value at `slot`; `None` if there is no entry.
    pub(crate) fn entry_at(&self, slot: u64) -> Option<(Any, Any)> {
        // SAFETY: one thread at a time uses the dict, and no user callback runs while the cells are copied.
        self.table().entry(slot as usize).map(|entry| unsafe { entry.copy() })
    }

    /// Returns references to the key and value at `slot`; `None` if there is no entry.
    ///
    /// # Safety
    /// The dict must not change while the references are in use.
    #[inline]
    pub(crate) unsafe fn entry_refs(&self, slot: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the entry is in this dict; the caller excludes writers.
        self.table().entry(slot as usize).map(|entry| unsafe { entry.references() })
    }

    /// Returns a new dict with the same entries in the same slots.
    ///
    /// # Errors
    /// MemoryError.
    pub fn copy(&self) -> Result<Self> {
        table::copy_object(type_index::DICT, self.table()).map(Self)
    }

    /// Returns a dict with the entries of a map in the same slots.
    pub(crate) fn copy_of(map: &MapObject) -> Result<Self> {
        table::copy_object(type_index::DICT, map.table()).map(Self)
    }
}

/// Iterator over the entries of a [`DictObject`] in order. Keeps the dict alive.
pub struct DictEntries {
    dict: DictObject,
    next: Option<u64>,
}

impl Iterator for DictEntries {
    type Item = (Any, Any);

    fn next(&mut self) -> Option<Self::Item> {
        let slot = self.next?;
        let entry = self.dict.entry_at(slot)?;
        self.next = self.dict.next_slot(slot);
        Some(entry)
    }
}
