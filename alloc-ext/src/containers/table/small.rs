//! Small layout: up to four entries in an array in insertion order, found by linear search.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::value::any::{Any, AnyView};

use super::entry::{self, Entry, KeyEntry};
use super::layout::{Borrow, NO_SLOT, SMALL_TAG, TableFields};
use crate::containers::storage;

/// Size of an entry in bytes.
pub(crate) const ENTRY_BYTES: usize = 2 * size_of::<TVMFFIAny>();
/// Minimum capacity of a new table.
pub(crate) const LEAST_CAPACITY: usize = 2;
/// Maximum capacity; larger tables are dense.
pub(crate) const MOST_CAPACITY: usize = 4;

/// A borrowed table in the small layout.
#[derive(Clone, Copy)]
pub(crate) struct Small<'a> {
    pub(crate) fields: *mut TableFields,
    borrow: Borrow<'a>,
}

impl<'a> Small<'a> {
    /// Borrows the table with the given fields.
    ///
    /// # Safety
    /// `fields` must belong to a table in the small layout that lives for `'a`.
    #[inline]
    pub(crate) unsafe fn at(fields: *mut TableFields) -> Self {
        Self { fields, borrow: PhantomData }
    }

    /// Returns the number of entries.
    #[inline]
    pub(crate) fn len(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size as usize }
    }

    /// Returns the capacity: the number of entries that fit in the storage.
    #[inline]
    pub(crate) fn capacity(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { ((*self.fields).slots & !SMALL_TAG) as usize }
    }

    /// Returns the capacity after growth, chosen as upstream does; `None` if the table becomes
    /// dense.
    pub(crate) fn larger(self) -> Option<usize> {
        let capacity = self.capacity();
        (capacity < MOST_CAPACITY).then(|| (2 * capacity).clamp(LEAST_CAPACITY, MOST_CAPACITY))
    }

    /// Returns the entry at `slot`; `None` beyond the end.
    #[inline]
    pub(crate) fn entry(self, slot: usize) -> Option<Entry> {
        // SAFETY: below the length, the cells exist.
        (slot < self.len()).then(|| unsafe { self.cells(slot) })
    }

    /// Returns the cells at `slot`, whether in use or not.
    ///
    /// # Safety
    /// `slot` must be below the capacity.
    #[inline]
    pub(crate) unsafe fn cells(self, slot: usize) -> Entry {
        // SAFETY: the caller guarantees the slot.
        unsafe { Entry::at((*self.fields).data.cast::<TVMFFIAny>().add(2 * slot)) }
    }

    /// Returns the slot of the entry of `key`; [`NO_SLOT`] if the key is not in the table.
    ///
    /// # Errors
    /// Errors of [`entry::entry_has_key`].
    pub(crate) fn find(self, key: &AnyView<'_>) -> Result<usize> {
        let mut slot = 0;
        while let Some(entry) = self.entry(slot) {
            // SAFETY: the entry is in this table; with the same size it stays so.
            if unsafe { entry::entry_has_key(self.fields, entry, key, || true) }? {
                return Ok(slot);
            }
            slot += 1;
        }
        Ok(NO_SLOT)
    }

    /// Returns the entry at `slot`, or the cells of a new one at the end for [`NO_SLOT`]; `None` if
    /// the table must grow. As in upstream, a table with four entries grows even for a key that is
    /// present.
    ///
    /// # Safety
    /// Same requirements as [`append`](Self::append).
    pub(crate) unsafe fn present_or_append(self, slot: usize) -> Option<KeyEntry> {
        if self.len() >= MOST_CAPACITY {
            return None;
        }
        match self.entry(slot) {
            Some(entry) => Some(KeyEntry::Present(entry)),
            // SAFETY: the length is below the capacity.
            None => (self.len() < self.capacity()).then(|| KeyEntry::New(unsafe { self.append() })),
        }
    }

    /// Removes a slot by moving the later entries down.
    ///
    /// # Safety
    /// Nothing else may use the table. The entry must be in it, with key and value already moved
    /// out.
    pub(crate) unsafe fn close_gap(self, slot: usize) {
        // SAFETY: the entries behind `slot` move down by one.
        unsafe {
            let gap = self.cells(slot).key();
            core::ptr::copy(gap.add(2), gap, 2 * (self.len() - slot - 1));
            TableFields::set_len(self.fields, self.len() - 1);
        }
    }

    /// Appends the cells of a new entry. The caller must write them before any other operation.
    ///
    /// # Safety
    /// The length must be below the capacity, and nothing else may use the table.
    pub(crate) unsafe fn append(self) -> Entry {
        // SAFETY: the caller guarantees the capacity.
        unsafe {
            let len = self.len();
            TableFields::set_len(self.fields, len + 1);
            self.cells(len)
        }
    }

    /// Appends bitwise copies of new entries.
    ///
    /// # Safety
    /// The contract of [`append`](Self::append) for each entry. The caller must forget the entries.
    pub(crate) unsafe fn append_words(self, entries: &[[Any; 2]]) {
        // SAFETY: the caller guarantees the capacity; Any has the layout of a cell, and entries lie
        // side by side in both.
        unsafe {
            self.cells(self.len())
                .key()
                .copy_from_nonoverlapping(entries.as_ptr().cast(), 2 * entries.len());
            TableFields::set_len(self.fields, self.len() + entries.len());
        }
    }

    /// Replaces the storage by a block for `capacity` entries that already has bitwise copies of
    /// the entries.
    ///
    /// # Safety
    /// Nothing else may use the table. `block` must come from [`storage::allocate_block`].
    pub(crate) unsafe fn switch_block(self, block: *mut c_void, capacity: usize) {
        // SAFETY: the caller excludes other users; the entries live on in the new block.
        unsafe {
            self.release_storage();
            (*self.fields).data = block;
            (*self.fields).slots = capacity as u64 | SMALL_TAG;
            (*self.fields).data_deleter = Some(storage::release_block);
        }
    }

    /// Implements [`Table::forget_entries`](super::view::Table::forget_entries) for the small
    /// layout.
    ///
    /// # Safety
    /// Same requirements as [`super::view::Table::forget_entries`].
    pub(crate) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users; the entries live elsewhere.
        unsafe {
            TableFields::set_len(self.fields, 0);
            self.release_storage();
        }
    }

    /// Releases the block of the entries. Storage in the object is kept, and released with the
    /// object.
    ///
    /// # Safety
    /// The entries must not be used afterwards.
    pub(super) unsafe fn release_storage(self) {
        // SAFETY: the deleter that the table carries accepts its data.
        unsafe {
            if let Some(release) = (*self.fields).data_deleter.take() {
                release((*self.fields).data);
            }
            (*self.fields).data = core::ptr::null_mut();
            (*self.fields).slots = SMALL_TAG;
        }
    }
}
