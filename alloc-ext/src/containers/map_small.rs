//! The small table: up to four entries side by side in insertion order, found by comparing one after the other.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::size_of;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::{Any, AnyView};
use ferrite_core::error::Result;

use super::map_base::{Borrow, NO_SLOT, SMALL_TAG, TableFields};
use super::map_entry::{self, Entry};
use super::map_table::Room;
use super::storage;

/// Bytes of one entry.
pub(super) const ENTRY_BYTES: usize = 2 * size_of::<TVMFFIAny>();
/// Capacity of an empty table.
pub(super) const LEAST_CAPACITY: usize = 2;
/// Capacity beyond which a table is dense.
pub(super) const MOST_CAPACITY: usize = 4;

/// A table of the small layout while it is borrowed.
#[derive(Clone, Copy)]
pub(super) struct Small<'a> {
    pub(super) fields: *mut TableFields,
    borrow: Borrow<'a>,
}

impl<'a> Small<'a> {
    /// # Safety
    /// `fields` belong to a table of the small layout, alive for `'a`.
    #[inline]
    pub(super) unsafe fn at(fields: *mut TableFields) -> Self {
        Self { fields, borrow: PhantomData }
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size as usize }
    }

    /// Number of entries for which there is room.
    #[inline]
    pub(super) fn capacity(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { ((*self.fields).slots & !SMALL_TAG) as usize }
    }

    /// The capacity that upstream would go over to when there is no room; None for the dense layout.
    pub(super) fn larger(self) -> Option<usize> {
        let capacity = self.capacity();
        (capacity < MOST_CAPACITY).then(|| (2 * capacity).clamp(LEAST_CAPACITY, MOST_CAPACITY))
    }

    /// Cells of the entry at `place`, or None beyond the end.
    #[inline]
    pub(super) fn entry(self, place: usize) -> Option<Entry> {
        // SAFETY: below the length, the cells exist.
        (place < self.len()).then(|| unsafe { self.cells_at(place) })
    }

    /// # Safety
    /// `place` is below the capacity.
    #[inline]
    pub(super) unsafe fn cells_at(self, place: usize) -> Entry {
        // SAFETY: the caller vouches for the place.
        unsafe { Entry::at((*self.fields).data.cast::<TVMFFIAny>().add(2 * place)) }
    }

    /// Place of the entry of `key`.
    ///
    /// # Errors
    /// As [`map_entry::entry_has_key`].
    pub(super) fn find(self, key: &AnyView<'_>) -> Result<usize> {
        let mut place = 0;
        while let Some(entry) = self.entry(place) {
            // SAFETY: the entry is in this table; with the same size it stays so.
            if unsafe { map_entry::entry_has_key(self.fields, entry, key, || true) }? {
                return Ok(place);
            }
            place += 1;
        }
        Ok(NO_SLOT)
    }

    /// Where a key goes, a new one to the end; None when the table must grow, as one of four entries does whatever comes.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    ///
    /// # Safety
    /// As [`append`](Self::append); key hooks may use the table.
    pub(super) unsafe fn room(self, key: &AnyView<'_>) -> Result<Option<Room>> {
        let known = self.entry(self.find(key)?);
        if self.len() >= MOST_CAPACITY {
            return Ok(None);
        }
        Ok(match known {
            Some(entry) => Some(Room::Known(entry)),
            // SAFETY: there is room behind the last entry.
            None => (self.len() < self.capacity()).then(|| Room::New(unsafe { self.append() })),
        })
    }

    /// Closes the gap that an entry leaves.
    ///
    /// # Safety
    /// Nobody else uses the table now; the entry is in it, and its cells have been taken out.
    pub(super) unsafe fn close_gap(self, place: usize) {
        // SAFETY: the entries behind `place` move down by one.
        unsafe {
            let gap = self.cells_at(place).key();
            core::ptr::copy(gap.add(2), gap, 2 * (self.len() - place - 1));
            (*self.fields).size -= 1;
        }
    }

    /// The cells of a new entry behind the last one, which the caller fills before anything else happens.
    ///
    /// # Safety
    /// There is room, and nobody else uses the table.
    pub(super) unsafe fn append(self) -> Entry {
        // SAFETY: the caller vouches for the room.
        unsafe {
            (*self.fields).size += 1;
            self.cells_at(self.len() - 1)
        }
    }

    /// Puts the words of new entries behind the last one.
    ///
    /// # Safety
    /// As [`append`](Self::append), for each of them; the caller gives the entries up.
    pub(super) unsafe fn append_words(self, entries: &[[Any; 2]]) {
        // SAFETY: the caller vouches for the room; Any has the layout of a cell, and entries lie side by side in both.
        unsafe {
            self.cells_at(self.len())
                .key()
                .copy_from_nonoverlapping(entries.as_ptr().cast(), 2 * entries.len());
            (*self.fields).size += entries.len() as u64;
        }
    }

    /// Goes over to a block of its own with room for `capacity` entries, which already holds copies of the words of the
    /// present ones.
    ///
    /// # Safety
    /// Nobody else uses the table now; `block` came from [`storage::allocate_block`].
    pub(super) unsafe fn switch_block(self, block: *mut c_void, capacity: usize) {
        // SAFETY: the caller excludes other users; the entries live on in the new block.
        unsafe {
            self.release_storage();
            (*self.fields).data = block;
            (*self.fields).slots = capacity as u64 | SMALL_TAG;
            (*self.fields).data_deleter = Some(storage::release_block);
        }
    }

    /// # Safety
    /// As [`super::map_table::Table::forget_entries`].
    pub(super) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users; the entries live elsewhere.
        unsafe {
            (*self.fields).size = 0;
            self.release_storage();
        }
    }

    /// Gives a block of its own back; entries in the object go with the object.
    ///
    /// # Safety
    /// Nobody uses the entries any more.
    unsafe fn release_storage(self) {
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
