//! The map of any keys and values that all its holders change in place; it keeps the order of insertion.

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::object_alloc::Apart;
use ferrite_core::{object_class, type_index};

use super::cell;
use super::map_base;
use super::map_entry::missing_key;
use super::map_in_place;
use super::map_object::MapObject;
use super::map_table::Table;

object_class!(
    /// A reference to a dict object of any keys and values: what signatures call `ffi.Dict`.
    ///
    /// All references see every change; growth switches the storage, and with it the layout, inside the object. Keys are
    /// compared as [`key`](super::key) says. The order of entries is that of a [`MapObject`](super::MapObject).
    ///
    /// Threads: a dict is not synchronised. While one thread changes it, no other may use it; the holders see to that.
    ///
    /// # Upstream
    /// `DictObj` in `include/tvm/ffi/container/dict.h`.
    pub struct DictObject, type_index::DICT, "ffi.Dict"
);

impl DictObject {
    /// Creates an empty dict in the layout that suits `expected` entries.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        map_base::allocate_for(type_index::DICT, expected, &mut Apart).map(Self)
    }

    fn table(&self) -> Table<'_> {
        // SAFETY: this type only holds dicts.
        unsafe { Table::of(&self.0) }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`, or None.
    ///
    /// # Errors
    /// What key hooks raise; RuntimeError when one changed the dict; MemoryError for a raw string whose copy finds no
    /// memory.
    pub fn get(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // Goes last: the end of a key that was taken over may run foreign code, which may change the dict.
        let owned = cell::owned_form(&key)?;
        let entry = self.table().find_entry(&owned.as_ref().map_or(key, Any::view))?;
        // SAFETY: one thread at a time uses the dict, and no foreign code runs before the value is copied.
        Ok(entry.map(|entry| unsafe { entry.copy_value() }))
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// KeyError when the key is not there; else as [`get`](Self::get).
    pub fn at(&self, key: AnyView<'_>) -> Result<Any> {
        self.get(key)?.ok_or_else(missing_key)
    }

    /// Whether `key` is there.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn contains(&self, key: AnyView<'_>) -> Result<bool> {
        Ok(self.table().find_entry_of_any(&key)?.is_some())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// As [`get`](Self::get); MemoryError when the dict must grow. The entries are unchanged then.
    pub fn insert(&self, key: Any, value: Any) -> Result<()> {
        // SAFETY: one thread at a time uses the dict.
        unsafe { map_in_place::insert(&self.0, key, value) }
    }

    /// Removes the entry of a key and returns its value, if it was there.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn remove(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // An owned form of the key lives until the entry is gone: its end may run code of users.
        let owned = cell::owned_form(&key)?;
        let place = self.table().find(&owned.as_ref().map_or(key, Any::view))?;
        // SAFETY: one thread at a time uses the dict.
        Ok(unsafe { self.table().remove(place) })
    }

    /// Removes all entries; the storage stays.
    ///
    /// What the release of an entry runs may change the dict again; it finds it whole.
    pub fn clear(&self) {
        for _ in 0..self.len() {
            let Some(place) = self.table().first() else { return };
            // SAFETY: one thread at a time uses the dict.
            drop(unsafe { self.table().remove(place) });
        }
    }

    /// The entries in order, as references of their own. Entries that come or go meanwhile may or may not be seen.
    pub fn iter(&self) -> DictEntries {
        DictEntries { dict: self.clone(), next: self.first_place() }
    }

    /// The place of the first entry in order.
    pub(crate) fn first_place(&self) -> Option<u64> {
        self.table().first().map(|place| place as u64)
    }

    /// The place of the entry after the one at `place`, if there are both.
    pub(crate) fn next_place(&self, place: u64) -> Option<u64> {
        self.table().next(place as usize).map(|place| place as u64)
    }

    /// Own copies of key and value at `place`, if an entry is there.
    pub(crate) fn entry_at(&self, place: u64) -> Option<(Any, Any)> {
        // SAFETY: one thread at a time uses the dict, and no foreign code runs while the cells are copied.
        self.table().entry(place as usize).map(|entry| unsafe { entry.copy() })
    }

    /// Key and value at `place`, if an entry is there, as they lie in memory.
    ///
    /// # Safety
    /// Nobody changes the dict while they are in use.
    #[inline]
    pub(crate) unsafe fn entry_refs(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the entry is in this dict; the caller excludes writers.
        self.table().entry(place as usize).map(|entry| unsafe { entry.references() })
    }

    /// A new dict with the same entries in the same places.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub fn copy(&self) -> Result<Self> {
        map_base::copy_object(type_index::DICT, self.table()).map(Self)
    }

    /// A dict with the entries of a map, in the same places.
    pub(crate) fn copy_of(map: &MapObject) -> Result<Self> {
        map_base::copy_object(type_index::DICT, map.table()).map(Self)
    }
}

/// The entries of a [`DictObject`] in order; holds the dict.
pub struct DictEntries {
    dict: DictObject,
    next: Option<u64>,
}

impl Iterator for DictEntries {
    type Item = (Any, Any);

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.next?;
        let entry = self.dict.entry_at(place)?;
        self.next = self.dict.next_place(place);
        Some(entry)
    }
}
