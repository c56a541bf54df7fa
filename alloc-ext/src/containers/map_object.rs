//! The copy-on-write map of any keys and values, which keeps the order of insertion.

use core::mem;

use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::object_alloc::{Apart, Space};
use ferrite_core::{object_class, type_index};

use super::cell;
use super::map_base;
use super::map_cursor::MapCursor;
use super::map_entry::missing_key;
use super::map_insert;
use super::map_table::Table;
use super::map_twin;

object_class!(
    /// A reference to a map object of any keys and values: what signatures call `ffi.Map`.
    ///
    /// A change through one reference is never seen through another: while the object is shared, the first change copies
    /// it, and growth moves the entries to a new object. Keys are compared as [`key`](super::key) says.
    ///
    /// Entries are in the order in which their keys came. Setting the value of a key that is there leaves it in its place
    /// in a map of up to four entries, and moves it to the end in a larger one, as upstream does.
    ///
    /// # Upstream
    /// `MapObj` in `include/tvm/ffi/container/map.h`.
    pub struct MapObject, type_index::MAP, "ffi.Map"
);

impl MapObject {
    /// Creates an empty map in the layout that suits `expected` entries.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        map_base::allocate_for(type_index::MAP, expected, &mut Apart).map(Self)
    }

    /// Whether its table has the size that inserting its entries one after the other into a new map gives.
    pub(crate) fn is_as_grown(&self) -> bool {
        matches!(self.table(), Table::Dense(dense) if dense.is_as_grown())
    }

    /// Whether its table has the dense layout.
    #[cfg(test)]
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.table(), Table::Dense(_))
    }

    /// As [`of_tail`](Self::of_tail) without hashing, where the keys are those of this map in the same order; else None.
    ///
    /// # Errors
    /// MemoryError; then the entries are where they were.
    pub(crate) fn twin_of_tail(
        &self,
        values: &mut Buffer<Any>,
        first: usize,
        space: &mut impl Space,
    ) -> Result<Option<Self>> {
        let (entries, _) = values.get(first..).unwrap_or_default().as_chunks::<2>();
        // SAFETY: this map cannot change while it is borrowed; the entries are forgotten here.
        let Some(twin) = (unsafe { map_twin::twin(self.table(), entries, space) })? else { return Ok(None) };
        values.forget_from(first);
        Ok(Some(Self(twin)))
    }

    /// Creates it of the keys, which are texts, and values in turns that `values` has from `first` on, which move here; of a
    /// repeated key the last value stays.
    ///
    /// # Errors
    /// ValueError on hosts, when too many keys collide; MemoryError. The entries are gone then, or where they were.
    pub(crate) fn of_tail(values: &mut Buffer<Any>, first: usize, space: &mut impl Space) -> Result<Self> {
        let (entries, _) = values.get_mut(first..).unwrap_or_default().as_chunks_mut::<2>();
        let mut map = map_base::allocate_for(type_index::MAP, entries.len(), space).map(Self)?;
        for [key, value] in entries {
            // SAFETY: the map is new, and nobody else has it.
            unsafe { map_insert::insert_from_document(&mut map.0, mem::take(key), mem::take(value)) }?;
        }
        values.forget_from(first);
        Ok(map)
    }

    pub(super) fn table(&self) -> Table<'_> {
        // SAFETY: this type only holds maps.
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
    /// What key hooks raise; MemoryError for a raw string whose copy finds no memory.
    pub fn get(&self, key: AnyView<'_>) -> Result<Option<&Any>> {
        let entry = self.table().find_entry_of_any(&key)?;
        // SAFETY: the entry is in this map, which cannot change while it is borrowed.
        Ok(entry.map(|entry| unsafe { entry.references() }.1))
    }

    /// The value of `key`.
    ///
    /// # Errors
    /// KeyError when the key is not there; else as [`get`](Self::get).
    pub fn at(&self, key: AnyView<'_>) -> Result<&Any> {
        self.get(key)?.ok_or_else(missing_key)
    }

    /// Whether `key` is there.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn contains(&self, key: AnyView<'_>) -> Result<bool> {
        Ok(self.get(key)?.is_some())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// What key hooks raise; MemoryError. The entries are unchanged then.
    pub fn insert(&mut self, key: Any, value: Any) -> Result<()> {
        self.make_unique()?;
        // SAFETY: the map is unshared.
        unsafe { map_insert::insert(&mut self.0, key, value) }
    }

    /// Sets the value of a key where that takes no memory, because there is room and nobody else has the map; tells whether.
    ///
    /// # Errors
    /// What key hooks raise.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "size counts there"))]
    pub(crate) fn insert_in_place(&mut self, key: Any, value: Any) -> Result<bool> {
        // SAFETY: the map is unshared when it is changed.
        unsafe {
            let room = if self.0.is_unique() { self.table().room(&key.view())? } else { None };
            Ok(room.map(|room| room.fill(key, value)).is_some())
        }
    }

    /// Removes the entry of a key and returns its value, if it was there.
    ///
    /// # Errors
    /// As [`get`](Self::get); MemoryError when the copy of a shared map finds no memory.
    pub fn remove(&mut self, key: AnyView<'_>) -> Result<Option<Any>> {
        // An owned form of the key lives until the entry is gone: its end may run code of users.
        let owned = cell::owned_form(&key)?;
        let place = self.table().find(&owned.as_ref().map_or(key, Any::view))?;
        if self.table().entry(place).is_none() {
            return Ok(None);
        }
        // A copy has its entries at the same places.
        self.make_unique()?;
        // SAFETY: the map is unshared.
        Ok(unsafe { self.table().remove(place) })
    }

    /// Removes all entries; a shared map is left to its other holders.
    ///
    /// # Errors
    /// MemoryError when no empty map can be made.
    pub fn clear(&mut self) -> Result<()> {
        *self = Self::with_capacity(0)?;
        Ok(())
    }

    /// The entries in order.
    pub fn iter(&self) -> MapEntries<'_> {
        MapEntries { next: self.cursor(), left: self.len() }
    }

    /// A walk through the entries in order.
    #[inline]
    pub(crate) fn cursor(&self) -> MapCursor<'_> {
        // SAFETY: a Map cannot change while it is borrowed.
        unsafe { MapCursor::first(self.table()) }
    }

    /// Asks for the memory of the entries, to be walked soon.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only the writer of hosts gives hints"))]
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Table::Dense(dense) = self.table() {
            dense.prefetch();
        }
    }

    /// Asks for the objects that are values here.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "only the writer of hosts gives hints"))]
    #[inline]
    pub(crate) fn prefetch_values(&self) {
        if let Table::Dense(dense) = self.table() {
            dense.prefetch_values();
        }
    }

    /// The place of the first entry in order.
    pub(crate) fn first_place(&self) -> Option<u64> {
        self.table().first().map(|place| place as u64)
    }

    /// The place of the entry after the one at `place`.
    pub(crate) fn next_place(&self, place: u64) -> Option<u64> {
        self.table().next(place as usize).map(|place| place as u64)
    }

    /// Key and value at `place`.
    pub(crate) fn entry_refs(&self, place: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the entry is in this map, which cannot change while it is borrowed.
        self.table().entry(place as usize).map(|entry| unsafe { entry.references() })
    }

    /// Key and value at `place`, side by side.
    pub(crate) fn entry_pair(&self, place: u64) -> Option<&[Any; 2]> {
        // SAFETY: as for `entry_refs`.
        self.table().entry(place as usize).map(|entry| unsafe { entry.pair() })
    }

    fn make_unique(&mut self) -> Result<()> {
        if !self.0.is_unique() {
            *self = self.copy()?;
        }
        Ok(())
    }

    /// A new map with the same entries in the same places.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub fn copy(&self) -> Result<Self> {
        map_base::copy_object(type_index::MAP, self.table()).map(Self)
    }
}

/// The entries of a [`MapObject`] in order.
pub struct MapEntries<'a> {
    next: MapCursor<'a>,
    left: usize,
}

impl<'a> Iterator for MapEntries<'a> {
    type Item = (&'a Any, &'a Any);

    fn next(&mut self) -> Option<Self::Item> {
        let [key, value] = self.next.entry()?;
        self.next.advance();
        self.left = self.left.saturating_sub(1);
        Some((key, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}
