//! Storage of a dense table: metadata bytes and items by slot number.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::{self, Result};
use ferrite_core::platform::prefetch;
use ferrite_core::platform::words::GOLDEN_RATIO;

use crate::containers::storage;
use crate::containers::table::entry::Entry;
use crate::containers::table::layout::{Borrow, TableFields};
use crate::containers::table::small::MOST_CAPACITY;

/// Number of slots in a block. Their metadata bytes are adjacent.
pub(super) const BLOCK_SLOTS: usize = 16;
/// Size of a block in bytes: metadata first, then items.
const BLOCK_BYTES: usize = BLOCK_SLOTS * (1 + size_of::<Item>());

/// Metadata of an empty slot.
pub(super) const EMPTY: u8 = 0xff;
/// Metadata of a reserved slot, which must be neither read nor filled. C++ code sets it while it
/// moves chains. All lower values mark slots in use.
pub(super) const PROTECTED: u8 = 0xfe;
/// Metadata of the head of a chain without further items.
pub(super) const HEAD: u8 = 0x00;
/// Metadata of a later item that ends its chain. As a bit, set in all items other than chain heads.
pub(super) const TAIL: u8 = 0x80;
/// Metadata bits with the index of the probe distance to the next item of the chain.
pub(super) const DISTANCE_BITS: u8 = 0x7f;

/// A slot number as stored in memory. [`NO_SLOT`](super::super::layout::NO_SLOT) is all ones, also
/// on 32-bit targets.
pub(crate) type Link = u64;

/// An entry, with its links in the list in insertion order.
#[repr(C)]
pub(crate) struct Item {
    pub(crate) key: TVMFFIAny,
    pub(crate) value: TVMFFIAny,
    pub(crate) prev: Link,
    pub(crate) next: Link,
}

const _: () = {
    assert!(size_of::<Item>() == 48 && BLOCK_BYTES == 784);
    assert!(offset_of!(Item, key) == 0 && offset_of!(Item, value) == 16);
    assert!(offset_of!(Item, prev) == 32 && offset_of!(Item, next) == 40);
};

/// Number of slots in the smallest dense table.
pub(crate) const LEAST_SLOTS: usize = 8;

/// Minimum number of slots of a table that exceeds the L1 cache. For smaller tables, prefetch hints
/// cost more than they save.
const CACHED_SLOTS: usize = 2048;

/// A borrowed table in the dense layout. Slot numbers passed to its methods must be below the
/// number of slots.
#[derive(Clone, Copy)]
pub(crate) struct Dense<'a> {
    pub(crate) fields: *mut TableFields,
    borrow: Borrow<'a>,
}

/// Returns the number of slots for `expected` entries: the smallest power of two that is at least
/// twice their number; `None` on overflow.
fn slots_for(expected: usize) -> Option<usize> {
    expected.checked_mul(2)?.checked_next_power_of_two()
}

/// Returns the size in bytes of the storage for `slots` slots.
///
/// # Errors
/// MemoryError on overflow.
pub(crate) fn bytes_of(slots: usize) -> Result<usize> {
    storage::block_bytes(slots.div_ceil(BLOCK_SLOTS), BLOCK_BYTES)
}

/// Marks all slots of new storage as empty.
///
/// # Safety
/// `data` must be storage of `bytes` bytes, a result of [`bytes_of`], that nothing else uses.
pub(crate) unsafe fn mark_empty(data: *mut c_void, bytes: usize) {
    for block in 0..bytes / BLOCK_BYTES {
        // SAFETY: metadata bytes are at the start of each block.
        unsafe { data.cast::<u8>().add(block * BLOCK_BYTES).write_bytes(EMPTY, BLOCK_SLOTS) }
    }
}

impl<'a> Dense<'a> {
    /// Borrows the table with the given fields.
    ///
    /// # Safety
    /// `fields` must belong to a table in the dense layout that lives for `'a`.
    #[inline]
    pub(crate) unsafe fn at(fields: *mut TableFields) -> Self {
        Self { fields, borrow: PhantomData }
    }

    /// Returns the fields of a new empty table with storage for `expected` entries.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn allocate_for(expected: usize) -> Result<TableFields> {
        Self::allocate(slots_for(expected).ok_or_else(|| error::out_of_memory(usize::MAX))?)
    }

    /// Returns the fields of a new empty table with `slots` slots, a power of two.
    ///
    /// # Errors
    /// MemoryError.
    pub(crate) fn allocate(slots: usize) -> Result<TableFields> {
        let bytes = bytes_of(slots)?;
        let data = storage::allocate_table(bytes)?.as_ptr();
        // SAFETY: the block is new and has as many bytes.
        unsafe { mark_empty(data, bytes) }
        Ok(TableFields {
            data,
            size: 0,
            slots: slots as u64,
            data_deleter: Some(storage::release_block),
            fib_shift: 64 - slots.trailing_zeros(),
            iter_head: Link::MAX,
            iter_tail: Link::MAX,
        })
    }

    /// Returns a copy of the fields.
    pub(crate) fn fields(self) -> TableFields {
        // SAFETY: the table is alive.
        unsafe { *self.fields }
    }

    /// Returns the number of entries.
    #[inline]
    pub(crate) fn len(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size as usize }
    }

    /// Returns the number of slots; 0 if the storage has been moved to another table.
    #[inline]
    pub(crate) fn slots(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { if (*self.fields).data.is_null() { 0 } else { (*self.fields).slots as usize } }
    }

    /// Returns `true` if one more entry would exceed the load factor of 0.99.
    pub(super) fn is_full(self) -> bool {
        (self.len() + 1).saturating_mul(100) > self.slots().saturating_mul(99)
    }

    /// Returns `true` if the table has the number of slots that repeated insertion would give: the
    /// entries fit neither the small layout nor half the slots. The smallest dense table cannot
    /// have fewer slots.
    pub(crate) fn is_as_grown(self) -> bool {
        let slots = self.slots();
        self.len() > MOST_CAPACITY
            && (slots == LEAST_SLOTS
                || self.len().saturating_mul(100) > (slots / 2).saturating_mul(99))
    }

    /// Returns `true` if the table exceeds the L1 cache, so that prefetch hints pay off.
    #[inline]
    pub(super) fn exceeds_cache(self) -> bool {
        prefetch::GIVEN && self.slots() >= CACHED_SLOTS
    }

    /// Returns the home slot of a hash. The table must have slots.
    #[inline]
    pub(super) fn home(self, hash: u64) -> usize {
        // SAFETY: the table is alive.
        let shift = unsafe { (*self.fields).fib_shift };
        // With a shift of 64 there is only one slot, so any result is correct.
        self.wrap(GOLDEN_RATIO.wrapping_mul(hash).wrapping_shr(shift) as usize)
    }

    /// Returns a slot number modulo the number of slots. The table must have slots.
    #[inline]
    pub(super) fn wrap(self, number: usize) -> usize {
        // SAFETY: the table is alive. The number of slots is a power of two.
        number & unsafe { (*self.fields).slots as usize }.wrapping_sub(1)
    }

    #[inline]
    pub(super) fn block_of(self, slot: usize) -> *mut u8 {
        // SAFETY: the slot is below the number of slots, so its block exists.
        unsafe { (*self.fields).data.cast::<u8>().add(slot / BLOCK_SLOTS * BLOCK_BYTES) }
    }

    /// Returns the metadata byte of a slot.
    #[inline]
    pub(crate) fn meta(self, slot: usize) -> u8 {
        // SAFETY: metadata is initialised in all slots.
        unsafe { self.block_of(slot).add(slot % BLOCK_SLOTS).read() }
    }

    #[inline]
    pub(crate) fn set_meta(self, slot: usize, meta: u8) {
        // SAFETY: as for `meta`.
        unsafe { self.block_of(slot).add(slot % BLOCK_SLOTS).write(meta) }
    }

    #[inline]
    pub(crate) fn item(self, slot: usize) -> *mut Item {
        let offset = BLOCK_SLOTS + slot % BLOCK_SLOTS * size_of::<Item>();
        // SAFETY: items follow the metadata of the block.
        unsafe { self.block_of(slot).add(offset).cast() }
    }

    #[inline]
    pub(crate) fn cells(self, slot: usize) -> Entry {
        // SAFETY: an item starts with its key, and the value follows.
        unsafe { Entry::at(self.item(slot).cast()) }
    }

    #[inline]
    pub(crate) fn is_used(self, slot: usize) -> bool {
        slot < self.slots() && self.meta(slot) < PROTECTED
    }

    /// Returns the entry at `slot`; `None` if the slot is not in use.
    #[inline]
    pub(crate) fn entry(self, slot: usize) -> Option<Entry> {
        self.is_used(slot).then(|| self.cells(slot))
    }

    /// Copies the contents of another table bitwise into the storage of this one.
    ///
    /// # Safety
    /// This table must be empty, used by nothing else, and have at least as many slots as `source`,
    /// which must have some.
    pub(crate) unsafe fn copy_words_of(self, source: Dense<'_>) {
        // SAFETY: the caller guarantees the slots. Unused cells may be uninitialised, and are
        // copied as bytes.
        unsafe {
            let TableFields { data, data_deleter, .. } = *self.fields;
            *self.fields = TableFields { data, data_deleter, ..*source.fields };
            let blocks = source.slots().div_ceil(BLOCK_SLOTS);
            data.cast::<u8>()
                .copy_from_nonoverlapping((*source.fields).data.cast(), blocks * BLOCK_BYTES);
        }
    }

    /// Implements [`Table::forget_entries`](super::super::view::Table::forget_entries) for the
    /// dense layout.
    ///
    /// # Safety
    /// Same requirements as [`super::super::view::Table::forget_entries`].
    pub(crate) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users.
        unsafe {
            TableFields::set_len(self.fields, 0);
            self.release_storage();
        }
    }

    /// Releases the storage. The number of entries stays, so that other threads may read it; the
    /// other fields are those of a table with capacity 0.
    ///
    /// # Safety
    /// Nothing else may use the table, and the caller sets the number of entries or the storage
    /// next.
    pub(crate) unsafe fn release_storage(self) {
        // SAFETY: the caller excludes other users; the deleter that the table carries accepts its
        // data.
        unsafe {
            let (data, release) = ((*self.fields).data, (*self.fields).data_deleter.take());
            (*self.fields).data = core::ptr::null_mut::<c_void>();
            (*self.fields).slots = 0;
            (*self.fields).iter_head = Link::MAX;
            (*self.fields).iter_tail = Link::MAX;
            if let Some(release) = release.filter(|_| !data.is_null()) {
                release(data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_a_power_of_two_and_twice_the_entries() {
        let slots: std::vec::Vec<_> =
            [4, 5, 8, 9, 16, 17].map(slots_for).into_iter().flatten().collect();
        assert_eq!(slots, [8, 16, 16, 32, 32, 64]);
        assert_eq!(slots_for(usize::MAX), None);
    }

    #[test]
    fn absurd_tables_are_memory_errors() {
        for bits_less in [6, 4, 2] {
            let slots = 1 << (usize::BITS - bits_less);
            let error = Dense::allocate(slots).map(|_| ()).expect_err("no such memory");
            assert_eq!(error.kind_bytes(), b"MemoryError");
        }
    }
}
