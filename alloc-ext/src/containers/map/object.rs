//! Untyped copy-on-write map in insertion order.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::object_alloc::{Apart, Space};
use ferrite_core::object_class;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::{Any, AnyView};

use crate::containers::cell;
use crate::containers::table::{self, MapCursor, Table, build, missing_key};

object_class!(
    /// A reference to a map object with keys and values of any type. Its type key, also used in
    /// signatures, is `ffi.Map`.
    ///
    /// A change through one reference is never seen through another: the first change while the
    /// object is shared copies it. The equality of keys is defined in
    /// [`key`](crate::containers::key).
    ///
    /// Entries are in insertion order. As in upstream, setting the value of an existing key keeps
    /// the position of the entry in a map of up to four entries, and moves the entry to the end in
    /// a larger map.
    ///
    /// # Upstream
    /// `MapObj` in `include/tvm/ffi/container/map.h`.
    pub struct MapObject, type_index::MAP, "ffi.Map"
);

impl MapObject {
    /// Creates an empty map, in the layout that upstream chooses for `expected` entries.
    ///
    /// # Errors
    /// MemoryError.
    pub fn with_capacity(expected: usize) -> Result<Self> {
        table::allocate_for(type_index::MAP, expected, &mut Apart).map(Self)
    }

    /// Returns `true` if the table is dense and has the capacity that repeated insertion into an
    /// empty map would give.
    pub(crate) fn is_as_grown(&self) -> bool {
        matches!(self.table(), Table::Dense(dense) if dense.is_as_grown())
    }

    /// Returns `true` if the table has the dense layout.
    #[cfg(test)]
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self.table(), Table::Dense(_))
    }

    /// Creates a map like [`of_tail`](Self::of_tail), but without hashing, if the new keys equal
    /// the keys of this map in the same order. Returns `None` otherwise.
    ///
    /// # Errors
    /// MemoryError. On failure the entries stay in `values`.
    pub(crate) fn with_same_keys(
        &self,
        values: &mut Buffer<Any>,
        first: usize,
        space: &mut impl Space,
    ) -> Result<Option<Self>> {
        let (entries, _) = values.get(first..).unwrap_or_default().as_chunks::<2>();
        // SAFETY: this map cannot change while it is borrowed; the entries are forgotten here.
        let Some(map) = (unsafe { build::with_keys_of(self.table(), entries, space) })? else {
            return Ok(None);
        };
        values.forget_from(first);
        Ok(Some(Self(map)))
    }

    /// Creates a map from the alternating string keys and values in `values` at index `first` and
    /// above, which move to the map. The last value of a repeated key wins.
    ///
    /// # Errors
    /// ValueError on hosts if too many keys collide; MemoryError. On failure each entry is released
    /// or stays in `values`.
    pub(crate) fn of_tail(
        values: &mut Buffer<Any>,
        first: usize,
        space: &mut impl Space,
    ) -> Result<Self> {
        build::of_tail(values, first, space).map(Self)
    }

    pub(in crate::containers) fn table(&self) -> Table<'_> {
        // SAFETY: this type only holds maps.
        unsafe { Table::of(&self.0) }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Returns `true` if the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a reference to the value of `key`; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError if a raw string must be copied.
    pub fn get(&self, key: AnyView<'_>) -> Result<Option<&Any>> {
        let entry = self.table().find_entry_of_any(&key)?;
        // SAFETY: the entry is in this map, which cannot change while it is borrowed.
        Ok(entry.map(|entry| unsafe { entry.references() }.1))
    }

    /// Returns a reference to the value of `key`.
    ///
    /// # Errors
    /// KeyError if the key is not present; errors of [`get`](Self::get).
    pub fn at(&self, key: AnyView<'_>) -> Result<&Any> {
        self.get(key)?.ok_or_else(missing_key)
    }

    /// Returns `true` if `key` is present.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get).
    pub fn contains(&self, key: AnyView<'_>) -> Result<bool> {
        Ok(self.get(key)?.is_some())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Errors of key hooks; MemoryError. On failure the entries are unchanged.
    pub fn insert(&mut self, key: Any, value: Any) -> Result<()> {
        self.make_unique()?;
        // SAFETY: the map is unshared.
        unsafe { table::insert(&self.0, key, value) }
    }

    /// Sets the value of a key if that needs no allocation, because the map is neither shared nor
    /// full. Returns whether it did.
    ///
    /// # Errors
    /// Errors of key hooks.
    #[cfg_attr(not(feature = "speed"), expect(dead_code, reason = "only fast paths use it"))]
    pub(crate) fn insert_in_place(&mut self, key: Any, value: Any) -> Result<bool> {
        // SAFETY: the map is unshared when it is changed.
        unsafe {
            let entry =
                if self.0.is_unique() { self.table().find_or_add(&key.view())? } else { None };
            Ok(entry.map(|entry| entry.fill(key, value)).is_some())
        }
    }

    /// Removes the entry of a key. Returns its value; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of [`get`](Self::get); MemoryError if a shared map must be copied.
    pub fn remove(&mut self, key: AnyView<'_>) -> Result<Option<Any>> {
        // An owned form of the key lives until the entry is removed: its release may run user
        // callbacks.
        let owned = cell::owned_form(&key)?;
        let slot = self.table().find(&owned.as_ref().map_or(key, Any::view))?;
        if self.table().entry(slot).is_none() {
            return Ok(None);
        }
        // A copy has its entries in the same slots.
        self.make_unique()?;
        // SAFETY: the map is unshared.
        Ok(unsafe { self.table().remove(slot) }.map(|(_, value)| value))
    }

    /// Removes all entries. If the map is shared, other references keep theirs.
    ///
    /// # Errors
    /// MemoryError if no empty map can be allocated.
    pub fn clear(&mut self) -> Result<()> {
        *self = Self::with_capacity(0)?;
        Ok(())
    }

    /// Returns an iterator over references to the entries in order.
    pub fn iter(&self) -> MapEntries<'_> {
        MapEntries { next: self.cursor(), left: self.len() }
    }

    /// Creates a cursor at the first entry in order.
    #[inline]
    pub(crate) fn cursor(&self) -> MapCursor<'_> {
        // SAFETY: a Map cannot change while it is borrowed.
        unsafe { MapCursor::first(self.table()) }
    }

    /// Prefetches the entries, for an iteration that follows soon.
    #[cfg_attr(
        not(feature = "speed"),
        expect(dead_code, reason = "only the fast JSON writer prefetches")
    )]
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Table::Dense(dense) = self.table() {
            dense.prefetch();
        }
    }

    /// Prefetches the value objects.
    #[cfg_attr(
        not(feature = "speed"),
        expect(dead_code, reason = "only the fast JSON writer prefetches")
    )]
    #[inline]
    pub(crate) fn prefetch_values(&self) {
        if let Table::Dense(dense) = self.table() {
            dense.prefetch_values();
        }
    }

    /// Returns the slot of the first entry in order; `None` if the map is empty.
    pub(crate) fn first_slot(&self) -> Option<u64> {
        self.table().first().map(|slot| slot as u64)
    }

    /// Returns the slot of the next entry in order; `None` at the end, or if there is no entry at
    /// `slot`.
    pub(crate) fn next_slot(&self, slot: u64) -> Option<u64> {
        self.table().next(slot as usize).map(|slot| slot as u64)
    }

    /// Returns references to the key and value at `slot`; `None` if there is no entry.
    pub(crate) fn entry_refs(&self, slot: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the entry is in this map, which cannot change while it is borrowed.
        self.table().entry(slot as usize).map(|entry| unsafe { entry.references() })
    }

    /// Returns a reference to the key and value at `slot` as one array; `None` if there is no
    /// entry.
    pub(crate) fn entry_pair(&self, slot: u64) -> Option<&[Any; 2]> {
        // SAFETY: as for `entry_refs`.
        self.table().entry(slot as usize).map(|entry| unsafe { entry.pair() })
    }

    fn make_unique(&mut self) -> Result<()> {
        if !self.0.is_unique() {
            *self = self.copy()?;
        }
        Ok(())
    }

    /// Returns a new map with the same entries in the same slots.
    ///
    /// # Errors
    /// MemoryError.
    pub fn copy(&self) -> Result<Self> {
        table::copy_object(type_index::MAP, self.table()).map(Self)
    }
}

/// Iterator over the entries of a [`MapObject`] in order.
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
