//! A borrowed table in either layout: lookup, iteration by slot, and removal.

use core::mem;

use ferrite_core::abi::{TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;
use ferrite_core::value::any::{Any, AnyView};

use super::dense::{Dense, RELEASE_DISTANCE};
use super::entry::{Entry, KeyEntry};
use super::layout::{FIELDS_OFFSET, NO_SLOT, SMALL_TAG, TableFields};
use super::small::Small;
use crate::containers::key;

/// Result of a key lookup.
#[derive(Clone, Copy)]
pub(crate) struct KeyPlace {
    /// Slot of the entry; [`NO_SLOT`] if the key is absent.
    pub(crate) slot: usize,
    /// Hash of the key in a dense table; not used in a small one.
    hash: u64,
}

/// A borrowed table in one of the two layouts.
///
/// No Rust reference to the fields or entries outlives a call. Callers of methods of a Dict hold a
/// borrow, exclusive for a change, or are its only owner; a Map changes only through its only
/// reference. Key hooks are user callbacks. They run under a shared borrow, but hooks in C++ may
/// still change this very table in place: read the layout again with [`of`](Self::of) after calling
/// one.
#[derive(Clone, Copy)]
pub(crate) enum Table<'a> {
    Small(Small<'a>),
    Dense(Dense<'a>),
}

impl<'a> Table<'a> {
    /// Returns the table of an object, in its current layout.
    ///
    /// # Safety
    /// `object` must be a Map or a Dict. The caller borrows a Dict, as the type requires, before it
    /// calls this function.
    #[inline]
    pub(crate) unsafe fn of(object: &'a ObjectRef) -> Self {
        // SAFETY: the caller guarantees the class, the borrow for the life.
        unsafe { Self::at(object.as_ptr()) }
    }

    /// Returns the table of the object at an address, in its current layout.
    ///
    /// # Safety
    /// `object` must be a Map or a Dict that lives for `'a`.
    #[inline]
    pub(crate) unsafe fn at(object: *mut TVMFFIObject) -> Self {
        // SAFETY: the caller guarantees the object.
        unsafe {
            let fields = object.byte_add(FIELDS_OFFSET).cast::<TableFields>();
            if (*fields).slots & SMALL_TAG != 0 {
                Self::Small(Small::at(fields))
            } else {
                Self::Dense(Dense::at(fields))
            }
        }
    }

    /// Returns the address of the fields. A small table has only the first four.
    pub(crate) fn fields(self) -> *mut TableFields {
        match self {
            Self::Small(table) => table.fields,
            Self::Dense(table) => table.fields,
        }
    }

    /// Returns the number of entries of a Map or Dict. Needs no borrow.
    ///
    /// # Safety
    /// `object` must be a Map or a Dict.
    #[inline]
    pub(crate) unsafe fn len_now(object: &ObjectRef) -> usize {
        // SAFETY: the caller guarantees the class; both layouts have the field in the same place.
        unsafe { TableFields::len_now(object.as_ptr().byte_add(FIELDS_OFFSET).cast()) }
    }

    /// Returns the number of entries.
    #[inline]
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Small(table) => table.len(),
            Self::Dense(table) => table.len(),
        }
    }

    /// Returns the slot of the entry of `key`; [`NO_SLOT`] if the key is not in the table. An
    /// Option would not be returned in registers.
    ///
    /// # Errors
    /// Errors of key hooks; RuntimeError if a hook changed the table.
    pub(crate) fn find(self, key: &AnyView<'_>) -> Result<usize> {
        match self {
            Self::Small(table) => table.find(key),
            Self::Dense(table) if table.len() == 0 => Ok(NO_SLOT),
            Self::Dense(table) => table.find(key, key::hash(key)?),
        }
    }

    /// Returns the entry of `key`, which must have the representation of an owned value; `None` if
    /// the key is not in the table.
    ///
    /// # Errors
    /// Errors of [`find`](Self::find).
    #[inline]
    pub(crate) fn find_entry(self, key: &AnyView<'_>) -> Result<Option<Entry>> {
        let slot = self.find(key)?;
        if slot == NO_SLOT {
            return Ok(None);
        }
        // SAFETY: an entry is in that slot.
        Ok(Some(unsafe {
            match self {
                Self::Small(table) => table.cells(slot),
                Self::Dense(table) => table.cells(slot),
            }
        }))
    }

    /// Returns the entry of a key in any representation; `None` if the key is not in the table. A
    /// view that cannot be stored, such as a raw string, is converted first.
    ///
    /// # Errors
    /// Errors of [`find_entry`](Self::find_entry) and [`AnyView::to_owned`].
    #[inline]
    pub(crate) fn find_entry_of_any(self, key: &AnyView<'_>) -> Result<Option<Entry>> {
        if type_index::is_view_only(key.type_index()) {
            return self.find_entry(&key.to_owned()?.view());
        }
        self.find_entry(key)
    }

    /// Returns the entry at `slot`; `None` if there is no entry.
    #[inline]
    pub(crate) fn entry(self, slot: usize) -> Option<Entry> {
        match self {
            Self::Small(table) => table.entry(slot),
            Self::Dense(table) => table.entry(slot),
        }
    }

    /// Returns the slot of the first entry in order, or a slot without an entry if the table is
    /// empty.
    #[inline]
    pub(crate) fn head(self) -> usize {
        match self {
            Self::Small(_) => 0,
            Self::Dense(table) => table.first_slot(),
        }
    }

    /// Returns the slot of the next entry in order, or a slot without an entry at the end.
    ///
    /// # Safety
    /// There must be an entry at `slot`.
    #[inline]
    pub(crate) unsafe fn slot_after(self, slot: usize) -> usize {
        match self {
            Self::Small(_) => slot + 1,
            // SAFETY: guaranteed by the caller.
            Self::Dense(table) => unsafe { table.slot_after(slot) },
        }
    }

    /// Returns the slot of the first entry in order; `None` if the table is empty.
    pub(crate) fn first(self) -> Option<usize> {
        let slot = self.head();
        self.entry(slot).map(|_| slot)
    }

    /// Returns the slot of the next entry in order; `None` at the end, or if there is no entry at
    /// `slot`.
    #[inline]
    pub(crate) fn next(self, slot: usize) -> Option<usize> {
        self.entry(slot)?;
        // SAFETY: there is an entry.
        let next = unsafe { self.slot_after(slot) };
        self.entry(next).map(|_| next)
    }

    /// Returns the entry at `slot`; `None` if there is no entry. Prefetches the next entry, which
    /// the iteration reads some calls later.
    #[inline]
    pub(crate) fn entry_before_next(self, slot: usize) -> Option<Entry> {
        let entry = self.entry(slot)?;
        if let Self::Dense(table) = self {
            // SAFETY: there is an entry.
            unsafe { table.prefetch_after(slot) }
        }
        Some(entry)
    }

    /// Returns an iterator over the entries in order. Entries added or removed during the iteration
    /// may or may not be returned.
    pub(crate) fn entries(self) -> impl Iterator<Item = Entry> {
        let mut next = self.first();
        core::iter::from_fn(move || {
            let slot = next?;
            let entry = self.entry(slot)?;
            next = self.next(slot);
            Some(entry)
        })
    }

    /// Returns the entry for a key, existing or new at the end; `None` if the table must grow
    /// first.
    ///
    /// # Errors
    /// Errors of key hooks. On failure the table is unchanged.
    ///
    /// # Safety
    /// Nothing else may use the table, except that key hooks may use it.
    pub(crate) unsafe fn find_or_add(self, key: &AnyView<'_>) -> Result<Option<KeyEntry>> {
        let place = self.look_up(key)?;
        // SAFETY: the caller excludes other users; no user callback runs any more.
        Ok(unsafe { self.present_or_add(place) })
    }

    /// Looks up a key that is to be added: first part of [`find_or_add`](Self::find_or_add), in
    /// which key hooks run.
    ///
    /// # Errors
    /// Errors of [`find`](Self::find).
    #[inline]
    fn look_up(self, key: &AnyView<'_>) -> Result<KeyPlace> {
        let hash = if let Self::Dense(_) = self { key::hash(key)? } else { 0 };
        self.find_hashed(key, hash)
    }

    /// Looks up a key. The hash is not used in a small table.
    ///
    /// # Errors
    /// Errors of [`find`](Self::find).
    #[inline]
    pub(crate) fn find_hashed(self, key: &AnyView<'_>, hash: u64) -> Result<KeyPlace> {
        let slot = match self {
            Self::Small(table) => table.find(key)?,
            Self::Dense(table) => {
                if !key::is_plain(key) {
                    table.prefetch_home(hash);
                }
                table.find(key, hash)?
            }
        };
        Ok(KeyPlace { slot, hash })
    }

    /// Second part of [`find_or_add`](Self::find_or_add), which runs no user callback.
    ///
    /// # Safety
    /// Nothing else may use the table, and it must not have changed since the key was looked up.
    #[inline]
    pub(crate) unsafe fn present_or_add(self, place: KeyPlace) -> Option<KeyEntry> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Self::Small(table) => table.present_or_append(place.slot),
                Self::Dense(table) => table.present_or_add(place.slot, place.hash),
            }
        }
    }

    /// Removes the entry at `slot`. Returns its key and value; `None` if there is no entry.
    ///
    /// # Safety
    /// Nothing else may use the table.
    pub(crate) unsafe fn remove(self, slot: usize) -> Option<(Any, Any)> {
        // SAFETY: the caller excludes other users; the cells are given up.
        unsafe {
            let entry = self.entry(slot)?.take();
            match self {
                Self::Small(table) => table.close_gap(slot),
                Self::Dense(table) => table.vacate(slot),
            }
            Some(entry)
        }
    }

    /// Returns the number of slots that may have entries. While C++ code clears a dense table,
    /// entries need not be linked in the order.
    fn slots(self) -> usize {
        match self {
            Self::Small(table) => table.len(),
            Self::Dense(table) => table.slots(),
        }
    }

    /// Increments the reference counts of all keys and values that are objects, after they were
    /// copied bitwise from another table.
    ///
    /// # Safety
    /// The other table must still own its entries.
    pub(crate) unsafe fn retain_entries(self) {
        for entry in (0..self.slots()).filter_map(|slot| self.entry(slot)) {
            // SAFETY: the caller guarantees the values; the references are the table's.
            mem::forget(unsafe { entry.copy() });
        }
    }

    /// Releases the storage without the entries, which have moved to another table. The table is
    /// then empty, with capacity 0.
    ///
    /// # Safety
    /// Nothing else may use the table.
    pub(crate) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users.
        unsafe {
            match self {
                Self::Small(table) => table.forget_entries(),
                Self::Dense(table) => table.forget_entries(),
            }
        }
    }

    /// Releases the storage, but keeps the number of entries, which have moved to other storage.
    ///
    /// # Safety
    /// Nothing else may use the table, and the caller gives it the other storage next.
    pub(crate) unsafe fn release_storage(self) {
        // SAFETY: the caller excludes other users.
        unsafe {
            match self {
                Self::Small(table) => table.release_storage(),
                Self::Dense(table) => table.release_storage(),
            }
        }
    }

    /// Releases all entries, then the storage.
    ///
    /// # Safety
    /// The table must not be used afterwards.
    pub(crate) unsafe fn destroy(self) {
        if let Self::Dense(table) = self {
            table.prefetch();
        }
        for slot in 0..self.slots() {
            if let Self::Dense(table) = self {
                table.prefetch_objects(slot + RELEASE_DISTANCE);
            }
            if let Some(entry) = self.entry(slot) {
                // SAFETY: each entry is taken once, as the table ends.
                drop(unsafe { entry.take() });
            }
        }
        // SAFETY: the entries are gone; the caller excludes other users.
        unsafe { self.forget_entries() }
    }
}
