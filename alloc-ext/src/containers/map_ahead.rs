//! Prefetching of the slots and objects of a dense table.

use ferrite_core::prefetch;

use super::map_chain::JUMP_BITS;
use super::map_dense::{BLOCK_SLOTS, Dense, Item, PROTECTED};
use super::{cell, jump, key};

/// Slots of a table that does not fit into the nearest cache. Hints cost more than they give in a smaller one.
const FAR_SLOTS: usize = 2048;

/// Bytes of a cache line, or half of one.
const LINE_BYTES: usize = 64;

/// Entries between the one in hand and the one that is asked for.
pub(super) const AHEAD: usize = 16;

impl Dense<'_> {
    #[inline]
    fn is_far(self) -> bool {
        prefetch::GIVEN && self.slots() >= FAR_SLOTS
    }

    /// Asks for the slot that a hash names, for an entry that is going to be placed there.
    #[inline]
    pub(super) fn prefetch_home(self, hash: u64) {
        if self.is_far() {
            let slot = self.home(hash);
            prefetch::to_write(self.block_of(slot).wrapping_add(slot % BLOCK_SLOTS));
            prefetch::to_write(self.item(slot));
        }
    }

    /// Asks for the key after the one at a slot in its chain; at the end of the chain for the same one again, as a branch on
    /// metadata that has yet to come would often go the wrong way.
    #[inline]
    pub(super) fn prefetch_next(self, slot: usize) {
        if self.is_far() {
            let distance = jump::distance((self.meta(slot) & JUMP_BITS).into()).unwrap_or(0);
            let next = self.wrap(slot.wrapping_add(distance));
            // SAFETY: the slots of a chain are in use.
            unsafe { key::prefetch(self.cells(next).key()) }
        }
    }

    /// Asks for the objects of the entry at a slot, if there is one: their counts are going to change.
    #[inline]
    pub(super) fn prefetch_objects(self, slot: usize) {
        if !self.is_far() {
            return;
        }
        if let Some(entry) = self.entry(slot) {
            // SAFETY: the cells of an entry are initialised.
            let cells = unsafe { [cell::borrow(entry.key()), cell::borrow(entry.value())] };
            for object in cells.iter().filter_map(|cell| cell.object_ptr()) {
                prefetch::to_write(object.as_ptr());
            }
        }
    }

    /// Asks for the entry after the one at a slot in use, for a walk from outside that comes to it some calls later: so that
    /// it is on its way while the objects of this one are waited for.
    ///
    /// # Safety
    /// The slot is in use.
    #[inline]
    pub(super) unsafe fn prefetch_after(self, slot: usize) {
        if !self.is_far() {
            return;
        }
        // SAFETY: the caller vouches for the slot.
        let next = unsafe { self.slot_after(slot) };
        if next < self.slots() {
            prefetch::to_read(self.block_of(next).wrapping_add(next % BLOCK_SLOTS));
            let item = self.item(next).cast::<u8>();
            prefetch::to_read(item);
            // The link by which the walk goes on is in the next line as often as not.
            prefetch::to_read(item.wrapping_add(size_of::<Item>() - 1));
        }
    }

    /// Asks for the memory of a table of one block, whose entries a walk finds by links: one after the other otherwise.
    #[inline]
    pub(super) fn prefetch(self) {
        if prefetch::GIVEN && self.slots() <= BLOCK_SLOTS {
            let bytes = BLOCK_SLOTS + self.slots() * size_of::<Item>();
            // SAFETY: the table is alive.
            let data = unsafe { (*self.fields).data }.cast::<u8>();
            (0..bytes).step_by(LINE_BYTES).for_each(|line| prefetch::to_read(data.wrapping_add(line)));
        }
    }

    /// Asks for the objects that are values in a table of one block.
    #[inline]
    pub(super) fn prefetch_values(self) {
        if self.slots() <= BLOCK_SLOTS {
            for slot in (0..self.slots()).filter(|slot| self.meta(*slot) < PROTECTED) {
                // SAFETY: the slot is in use.
                unsafe { cell::prefetch(self.cells(slot).value()) }
            }
        }
    }
}
