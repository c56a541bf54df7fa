//! Prefetch hints for iteration over a dense table and for its release.

use ferrite_core::platform::prefetch;

use super::slots::{BLOCK_SLOTS, Dense, Item, PROTECTED};

/// Number of bytes in a cache line, or half a line on some processors.
const LINE_BYTES: usize = 64;

/// Prefetch distance during release, in slots.
pub(crate) const RELEASE_DISTANCE: usize = 16;

impl Dense<'_> {
    /// Prefetches the key and value objects of the entry at a slot, if any. For writing, since
    /// their reference counts change soon.
    #[inline]
    pub(crate) fn prefetch_objects(self, slot: usize) {
        if !self.exceeds_cache() {
            return;
        }
        if let Some(entry) = self.entry(slot) {
            // SAFETY: the cells of an entry are initialised, and no user callback runs here.
            let cells = unsafe { [entry.key_view(), entry.value_view()] };
            for object in cells.iter().filter_map(|cell| cell.object_ptr()) {
                prefetch::to_write(object.as_ptr());
            }
        }
    }

    /// Prefetches the entry after `slot`, for an external iteration that reads it some calls later.
    /// It loads while the caller waits for the objects of the current entry.
    ///
    /// # Safety
    /// The slot must be in use.
    #[inline]
    pub(crate) unsafe fn prefetch_after(self, slot: usize) {
        if !self.exceeds_cache() {
            return;
        }
        // SAFETY: the caller guarantees the slot.
        let next = unsafe { self.slot_after(slot) };
        if next < self.slots() {
            prefetch::to_read(self.block_of(next).wrapping_add(next % BLOCK_SLOTS));
            let item = self.item(next).cast::<u8>();
            prefetch::to_read(item);
            // The link to the next entry is in the next line as often as not.
            prefetch::to_read(item.wrapping_add(size_of::<Item>() - 1));
        }
    }

    /// Prefetches all storage of a table with a single block, which an iteration would otherwise
    /// load link by link.
    #[inline]
    pub(crate) fn prefetch(self) {
        if prefetch::GIVEN && self.slots() <= BLOCK_SLOTS {
            let bytes = BLOCK_SLOTS + self.slots() * size_of::<Item>();
            // SAFETY: the table is alive.
            let data = unsafe { (*self.fields).data }.cast::<u8>();
            (0..bytes)
                .step_by(LINE_BYTES)
                .for_each(|line| prefetch::to_read(data.wrapping_add(line)));
        }
    }

    /// Prefetches the value objects of a table with a single block.
    #[inline]
    pub(crate) fn prefetch_values(self) {
        if self.slots() <= BLOCK_SLOTS {
            for slot in (0..self.slots()).filter(|slot| self.meta(*slot) < PROTECTED) {
                // SAFETY: the slot is in use, and no user callback runs here.
                if let Some(object) = unsafe { self.cells(slot).value_view() }.object_ptr() {
                    prefetch::to_read(object.as_ptr());
                }
            }
        }
    }
}
