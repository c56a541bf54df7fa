//! Untyped mutable map in insertion order, changed in place through all references.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::object::borrow::{BriefShared, Shared};
use ferrite_core::object::object_alloc::Apart;
use ferrite_core::object_class;
use ferrite_core::value::any::{Any, AnyView};

use super::access;

use crate::containers::cell;
use crate::containers::map::MapObject;
use crate::containers::table::{self, Table, missing_key};

object_class!(
    /// A reference to a dict object with keys and values of any type. Its type key, also used in
    /// signatures, is `ffi.Dict`.
    ///
    /// All references see every change. Growth replaces the storage, and possibly its layout,
    /// inside the object. The equality of keys is defined in [`key`](crate::containers::key). The
    /// entry order is the same as in a [`MapObject`].
    ///
    /// Threads: each method borrows the dict for the time of its access, shared for a read and
    /// exclusively for a change. An
    /// access that conflicts with that of another thread is a RuntimeError; nobody waits. Key hooks
    /// that compare
    /// run under a shared borrow: they may read the dict, and changing it is a RuntimeError. Values
    /// are converted, and keys and values released, without a borrow. [`len`](Self::len) and
    /// [`is_empty`](Self::is_empty) need none. C++ code that accesses the fields
    /// in place is not checked.
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

    /// Borrows the dict for copying entries.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the dict.
    #[inline]
    fn read(&self) -> Result<BriefShared<'_>> {
        // SAFETY: the callers only copy entries.
        unsafe { BriefShared::of(&self.0) }
    }

    /// Returns the table, in its current layout. The dict must be borrowed.
    fn table(&self) -> Table<'_> {
        // SAFETY: this type only holds dicts; its methods borrow the dict.
        unsafe { Table::of(&self.0) }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        // SAFETY: this type only holds dicts.
        unsafe { Table::len_now(&self.0) }
    }

    /// Returns `true` if the dict has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an owned copy of the value of `key`; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is changing the dict, or a hook changed
    /// it; MemoryError if a raw string must be copied.
    pub fn get(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // Dropped last: the release of an owned key may run user callbacks, which may change the
        // dict.
        let owned = cell::owned_form(&key)?;
        // SAFETY: this type only holds dicts.
        unsafe { access::get(&self.0, &owned.as_ref().map_or(key, Any::view)) }
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
        Ok(self.get(key)?.is_some())
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is using the dict, or a hook changed it;
    /// MemoryError if the dict must grow. On failure the entries are unchanged.
    pub fn insert(&self, key: Any, value: Any) -> Result<()> {
        // SAFETY: this type only holds dicts.
        unsafe { access::insert(&self.0, key, value) }
    }

    /// Removes the entry of a key. Returns its value; `None` if the key is not present.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if another thread is using the dict, or a hook changed it;
    /// MemoryError if a raw string must be copied.
    pub fn remove(&self, key: AnyView<'_>) -> Result<Option<Any>> {
        // An owned form of the key lives until the entry is removed: its release may run user
        // callbacks.
        let owned = cell::owned_form(&key)?;
        // SAFETY: this type only holds dicts.
        let removed = unsafe { access::remove(&self.0, &owned.as_ref().map_or(key, Any::view))? };
        Ok(removed.map(|(_, value)| value))
    }

    /// Removes all entries, one by one, and keeps the storage.
    ///
    /// Releasing an entry may run user callbacks that change the dict; the dict is in a consistent
    /// state then.
    ///
    /// # Errors
    /// RuntimeError if another thread is using the dict. Entries that were not yet removed stay.
    pub fn clear(&self) -> Result<()> {
        for _ in 0..self.len() {
            // SAFETY: this type only holds dicts.
            if unsafe { access::remove_first(&self.0)? }.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Returns an iterator over owned copies of the entries in order. Entries added or removed
    /// during the iteration may or may not be returned. Each step borrows the dict anew: while
    /// another thread is changing it, the step is a RuntimeError, and the iteration ends.
    pub fn iter(&self) -> DictEntries {
        DictEntries { dict: self.clone(), next: NextEntry::First }
    }

    /// Returns the slot of the first entry in order; `None` if the dict is empty.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the dict.
    pub(crate) fn first_slot(&self) -> Result<Option<u64>> {
        let _borrow = self.read()?;
        // SAFETY: just borrowed.
        Ok(unsafe { self.first_borrowed() })
    }

    /// Returns the slot of the next entry in order; `None` at the end, or if there is no entry at
    /// `slot`.
    ///
    /// # Errors
    /// Errors of [`first_slot`](Self::first_slot).
    pub(crate) fn next_slot(&self, slot: u64) -> Result<Option<u64>> {
        let _borrow = self.read()?;
        // SAFETY: just borrowed.
        Ok(unsafe { self.next_borrowed(slot) })
    }

    /// Returns owned copies of the key and value at `slot`; `None` if there is no entry.
    ///
    /// # Errors
    /// Errors of [`first_slot`](Self::first_slot).
    pub(crate) fn entry_at(&self, slot: u64) -> Result<Option<(Any, Any)>> {
        let _borrow = self.read()?;
        // SAFETY: the borrow excludes writers.
        Ok(self.table().entry(slot as usize).map(|entry| unsafe { entry.copy() }))
    }

    /// Returns the slot of the first entry in order; `None` if the dict is empty.
    ///
    /// # Safety
    /// The caller must have the dict borrowed.
    pub(crate) unsafe fn first_borrowed(&self) -> Option<u64> {
        self.table().first().map(|slot| slot as u64)
    }

    /// Returns the slot of the next entry in order; `None` at the end, or if there is no entry at
    /// `slot`.
    ///
    /// # Safety
    /// The caller must have the dict borrowed.
    pub(crate) unsafe fn next_borrowed(&self, slot: u64) -> Option<u64> {
        self.table().next(slot as usize).map(|slot| slot as u64)
    }

    /// Returns references to the key and value at `slot`; `None` if there is no entry.
    ///
    /// # Safety
    /// The caller must have the dict borrowed while the references are in use.
    #[inline]
    pub(crate) unsafe fn entry_refs(&self, slot: u64) -> Option<(&Any, &Any)> {
        // SAFETY: the entry is in this dict; the caller excludes writers.
        self.table().entry(slot as usize).map(|entry| unsafe { entry.references() })
    }

    /// Returns a new dict with the same entries in the same slots.
    ///
    /// # Errors
    /// RuntimeError if another thread is changing the dict; MemoryError.
    pub fn copy(&self) -> Result<Self> {
        // A user's allocator may run.
        let _borrow = Shared::of(&self.0)?;
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
    next: NextEntry,
}

/// Position of an iteration.
enum NextEntry {
    First,
    Slot(usize),
    End,
}

impl DictEntries {
    /// Returns a copy of the next entry, and advances.
    fn step(&mut self) -> Result<Option<(Any, Any)>> {
        let next = core::mem::replace(&mut self.next, NextEntry::End);
        let _borrow = self.dict.read()?;
        let table = self.dict.table();
        let slot = match next {
            NextEntry::First => table.head(),
            NextEntry::Slot(slot) => slot,
            NextEntry::End => return Ok(None),
        };
        // SAFETY: the borrow excludes writers.
        let entry = table.entry(slot).map(|entry| unsafe { entry.copy() });
        self.next = table.next(slot).map_or(NextEntry::End, NextEntry::Slot);
        Ok(entry)
    }
}

impl Iterator for DictEntries {
    type Item = Result<(Any, Any)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step().transpose()
    }
}
