//! The dense table: hash chains inside one array of slots, linked by distance, and a list of entries in order.
//!
//! A slot has a metadata byte and an item. A chain starts at the slot that the hash of its keys names (its home) and goes
//! on at a distance that the metadata byte names by index. An item is also a link of the list that keeps the order of
//! insertion. The layout, the hash and the rules of the chains are part of the ABI: C++ code reads and writes tables in
//! place.

use core::ffi::c_void;
use core::marker::PhantomData;
use core::mem::{offset_of, size_of};

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::any::AnyView;
use ferrite_core::error::{self, Result};
use ferrite_core::words::GOLDEN_RATIO;

use super::map_base::{Borrow, NO_SLOT, TableFields};
use super::map_chain::{HEAD, TAIL};
use super::map_entry::Entry;
use super::map_order::Link;
use super::map_relocate;
use super::map_small::MOST_CAPACITY;
use super::map_table::Room;
use super::storage;

/// Slots of a block, whose metadata bytes lie together.
pub(super) const BLOCK_SLOTS: usize = 16;
/// Bytes of a block: metadata first, then items.
const BLOCK_BYTES: usize = BLOCK_SLOTS * (1 + size_of::<Item>());

/// Metadata of a slot without item.
pub(super) const EMPTY: u8 = 0xff;
/// Metadata of a slot that must neither be read nor filled, which C++ code has while it moves chains; all below are in use.
pub(super) const PROTECTED: u8 = 0xfe;

/// One entry and its links in the list of entries.
#[repr(C)]
pub(super) struct Item {
    pub(super) key: TVMFFIAny,
    pub(super) value: TVMFFIAny,
    pub(super) prev: Link,
    pub(super) next: Link,
}

const _: () = {
    assert!(size_of::<Item>() == 48 && BLOCK_BYTES == 784);
    assert!(offset_of!(Item, key) == 0 && offset_of!(Item, value) == 16);
    assert!(offset_of!(Item, prev) == 32 && offset_of!(Item, next) == 40);
};

/// A table of the dense layout while it is borrowed. Slot numbers that its methods take are below the number of slots.
#[derive(Clone, Copy)]
pub(super) struct Dense<'a> {
    pub(super) fields: *mut TableFields,
    borrow: Borrow<'a>,
}

/// Slots of the smallest dense table.
pub(super) const LEAST_SLOTS: usize = 8;

/// Number of slots for a range of `expected` entries: a power of two, at least twice as many.
fn slots_for(expected: usize) -> Option<usize> {
    expected.checked_mul(2)?.checked_next_power_of_two()
}

/// Bytes of the storage for `slots` slots.
///
/// # Errors
/// MemoryError when the number does not fit.
pub(super) fn bytes_of(slots: usize) -> Result<usize> {
    storage::block_bytes(slots.div_ceil(BLOCK_SLOTS), BLOCK_BYTES)
}

/// Marks all slots of new storage as empty.
///
/// # Safety
/// `data` has `bytes` bytes, which [`bytes_of`] gave, and is ours to fill.
pub(super) unsafe fn mark_empty(data: *mut c_void, bytes: usize) {
    for block in 0..bytes / BLOCK_BYTES {
        // SAFETY: metadata bytes are at the start of each block.
        unsafe { data.cast::<u8>().add(block * BLOCK_BYTES).write_bytes(EMPTY, BLOCK_SLOTS) }
    }
}

impl<'a> Dense<'a> {
    /// # Safety
    /// `fields` belong to a table of the dense layout, alive for `'a`.
    #[inline]
    pub(super) unsafe fn at(fields: *mut TableFields) -> Self {
        Self { fields, borrow: PhantomData }
    }

    /// The fields of a new empty table for a range of `expected` entries.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub(super) fn allocate_for(expected: usize) -> Result<TableFields> {
        Self::allocate(slots_for(expected).ok_or_else(|| error::out_of_memory(usize::MAX))?)
    }

    /// The fields of a new empty table of `slots` slots, a power of two.
    ///
    /// # Errors
    /// MemoryError when the memory is not there.
    pub(super) fn allocate(slots: usize) -> Result<TableFields> {
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

    /// A copy of the fields.
    pub(super) fn fields(self) -> TableFields {
        // SAFETY: the table is alive.
        unsafe { *self.fields }
    }

    /// Number of entries.
    #[inline]
    pub(super) fn len(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size as usize }
    }

    /// Number of slots; none when the storage has been moved away.
    #[inline]
    pub(super) fn slots(self) -> usize {
        // SAFETY: the table is alive.
        unsafe { if (*self.fields).data.is_null() { 0 } else { (*self.fields).slots as usize } }
    }

    /// Whether one more entry would exceed the load factor of 0.99.
    fn is_full(self) -> bool {
        (self.len() + 1).saturating_mul(100) > self.slots().saturating_mul(99)
    }

    /// Whether its entries are too many for the small layout, and for half of the slots unless it cannot have fewer.
    pub(super) fn is_as_grown(self) -> bool {
        let slots = self.slots();
        self.len() > MOST_CAPACITY
            && (slots == LEAST_SLOTS || self.len().saturating_mul(100) > (slots / 2).saturating_mul(99))
    }

    /// The slot that a hash names. There must be slots.
    #[inline]
    pub(super) fn home(self, hash: u64) -> usize {
        // SAFETY: the table is alive.
        let shift = unsafe { (*self.fields).fib_shift };
        // A shift by 64 names the only slot that there is then, whatever comes out.
        self.wrap(GOLDEN_RATIO.wrapping_mul(hash).wrapping_shr(shift) as usize)
    }

    /// The slot that a number names, round and round. There must be slots.
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

    /// Metadata byte of a slot.
    #[inline]
    pub(super) fn meta(self, slot: usize) -> u8 {
        // SAFETY: metadata is initialised in all slots.
        unsafe { self.block_of(slot).add(slot % BLOCK_SLOTS).read() }
    }

    #[inline]
    pub(super) fn set_meta(self, slot: usize, meta: u8) {
        // SAFETY: as for `meta`.
        unsafe { self.block_of(slot).add(slot % BLOCK_SLOTS).write(meta) }
    }

    #[inline]
    pub(super) fn item(self, slot: usize) -> *mut Item {
        let offset = BLOCK_SLOTS + slot % BLOCK_SLOTS * size_of::<Item>();
        // SAFETY: items follow the metadata of the block.
        unsafe { self.block_of(slot).add(offset).cast() }
    }

    #[inline]
    pub(super) fn cells(self, slot: usize) -> Entry {
        // SAFETY: an item starts with its key, and the value follows.
        unsafe { Entry::at(self.item(slot).cast()) }
    }

    #[inline]
    pub(super) fn is_used(self, slot: usize) -> bool {
        slot < self.slots() && self.meta(slot) < PROTECTED
    }

    /// Cells of the entry at `place`, or None when none is there.
    #[inline]
    pub(super) fn entry(self, place: usize) -> Option<Entry> {
        self.is_used(place).then(|| self.cells(place))
    }

    /// Where a key of hash `hash` goes; None when the table must grow. A key that was there moves to the end of the order.
    ///
    /// # Errors
    /// What key hooks raise. The table is unchanged then.
    ///
    /// # Safety
    /// As [`place`](Self::place); key hooks may use the table.
    #[cfg_attr(feature = "std", inline)]
    pub(super) unsafe fn room(self, key: &AnyView<'_>, hash: u64) -> Result<Option<Room>> {
        let slot = self.find(key, hash)?;
        // SAFETY: passed on; no foreign code runs any more.
        Ok(unsafe { self.room_at(slot, hash) })
    }

    /// As [`room`](Self::room), for a key that was found at a slot, or nowhere.
    ///
    /// # Safety
    /// As [`place`](Self::place).
    #[inline]
    pub(super) unsafe fn room_at(self, slot: usize, hash: u64) -> Option<Room> {
        if slot != NO_SLOT {
            self.order_unlink(slot);
            self.order_push(slot);
            return Some(Room::Known(self.cells(slot)));
        }
        // SAFETY: passed on.
        unsafe { self.place(hash) }.map(Room::New)
    }

    /// Makes a slot for a key of hash `hash`, at the end of its chain and of the order. None when the table must grow.
    ///
    /// The caller fills the cells before anything else happens.
    ///
    /// # Safety
    /// Nobody else uses the table now, and the key is not in it.
    pub(super) unsafe fn place(self, hash: u64) -> Option<Entry> {
        if self.slots() == 0 {
            return None;
        }
        let home = self.home(hash);
        if self.meta(home) == EMPTY {
            return Some(self.occupy(home, HEAD));
        }
        if self.is_full() {
            return None;
        }
        if !self.is_head(home) {
            // The home of this chain holds a later item of another one, which has to give way.
            // SAFETY: the caller excludes other users.
            return unsafe { map_relocate::move_chain_away(self, home) }.then(|| self.occupy(home, HEAD));
        }
        let (_, last) = self.chain_end(home);
        let (slot, jump) = self.next_empty(last)?;
        let entry = self.occupy(slot, TAIL);
        self.set_jump(last, jump);
        Some(entry)
    }

    fn occupy(self, slot: usize, meta: u8) -> Entry {
        self.set_meta(slot, meta);
        self.order_push(slot);
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size += 1 };
        self.cells(slot)
    }

    /// Gives up the slot of an entry. When its chain goes on, the last item of the chain moves there.
    ///
    /// # Safety
    /// Nobody else uses the table now; the entry is in it, and its cells have been taken out.
    pub(super) unsafe fn vacate(self, place: usize) {
        self.order_unlink(place);
        let (before, last) = self.chain_end(place);
        let before = if last == place { self.chain_prev(place) } else { Some(before) };
        if let Some(before) = before {
            self.set_jump(before, 0);
        }
        if last != place {
            // SAFETY: the cells at `place` have been taken out, and those at `last` are given up.
            unsafe { self.move_item(last, place) }
        }
        self.set_meta(last, EMPTY);
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size -= 1 };
    }

    /// Becomes a copy of the words of another table, in storage of its own.
    ///
    /// # Safety
    /// The table is empty, known to nobody else, and has as many slots as the other one, which has some.
    pub(super) unsafe fn take_words_of(self, source: Dense<'_>) {
        // SAFETY: the caller vouches for the room. Cells that are not in use may hold anything, and are copied as bytes.
        unsafe {
            let TableFields { data, data_deleter, .. } = *self.fields;
            *self.fields = TableFields { data, data_deleter, ..*source.fields };
            let blocks = source.slots().div_ceil(BLOCK_SLOTS);
            data.cast::<u8>().copy_from_nonoverlapping((*source.fields).data.cast(), blocks * BLOCK_BYTES);
        }
    }

    /// # Safety
    /// As [`super::map_table::Table::forget_entries`].
    pub(super) unsafe fn forget_entries(self) {
        // SAFETY: the caller excludes other users; the deleter that the table carries accepts its data.
        unsafe {
            let (data, release) = ((*self.fields).data, (*self.fields).data_deleter.take());
            (*self.fields).data = core::ptr::null_mut::<c_void>();
            (*self.fields).size = 0;
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
        let slots: std::vec::Vec<_> = [4, 5, 8, 9, 16, 17].map(slots_for).into_iter().flatten().collect();
        assert_eq!(slots, [8, 16, 16, 32, 32, 64]);
        assert_eq!(slots_for(usize::MAX), None);
    }

    #[test]
    fn absurd_tables_are_memory_errors() {
        for bits_less in [6, 4, 2] {
            let slots = 1 << (usize::BITS - bits_less);
            let error = Dense::allocate(slots).map(|_| ()).expect_err("no such memory");
            assert_eq!(error.kind(), b"MemoryError");
        }
    }
}
