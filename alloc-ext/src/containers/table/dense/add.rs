//! Slots for new entries, and the removal of entries.

use ferrite_core::any::AnyView;
use ferrite_core::error::Result;
use ferrite_core::prefetch;

use super::relocate;
use super::slots::{BLOCK_SLOTS, Dense, EMPTY, HEAD, TAIL};
use crate::containers::table::entry::{Entry, KeyEntry};
use crate::containers::table::layout::NO_SLOT;

impl Dense<'_> {
    /// Returns the entry for a key of hash `hash`; None when the table must grow. A key that is present moves to the end of
    /// the order.
    ///
    /// # Errors
    /// Errors of key hooks. The table is unchanged then.
    ///
    /// # Safety
    /// The contract of [`add`](Self::add); key hooks may use the table.
    #[cfg_attr(feature = "speed", inline)]
    pub(crate) unsafe fn find_or_add(self, key: &AnyView<'_>, hash: u64) -> Result<Option<KeyEntry>> {
        let slot = self.find(key, hash)?;
        // SAFETY: guaranteed by the caller; no user callback runs any more.
        Ok(unsafe { self.present_or_add(slot, hash) })
    }

    /// [`find_or_add`](Self::find_or_add) after the lookup, which found this slot or [`NO_SLOT`].
    ///
    /// # Safety
    /// The contract of [`add`](Self::add).
    #[inline]
    pub(crate) unsafe fn present_or_add(self, slot: usize, hash: u64) -> Option<KeyEntry> {
        if slot != NO_SLOT {
            self.order_unlink(slot);
            self.order_push(slot);
            return Some(KeyEntry::Present(self.cells(slot)));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.add(hash) }.map(KeyEntry::New)
    }

    /// Occupies a slot for a key of hash `hash`, at the end of its chain and of the order. None when the table must grow.
    ///
    /// The caller must fill the cells before any other operation.
    ///
    /// # Safety
    /// There must be no other user of the table, and the key is not in it.
    pub(crate) unsafe fn add(self, hash: u64) -> Option<Entry> {
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
            // The home of this chain holds a later item of another one, which has to move.
            // SAFETY: the caller excludes other users.
            return unsafe { relocate::move_chain_away(self, home) }.then(|| self.occupy(home, HEAD));
        }
        let (_, last) = self.chain_end(home);
        let (slot, distance) = self.next_empty(last)?;
        let entry = self.occupy(slot, TAIL);
        self.set_distance(last, distance);
        Some(entry)
    }

    fn occupy(self, slot: usize, meta: u8) -> Entry {
        self.set_meta(slot, meta);
        self.order_push(slot);
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size += 1 };
        self.cells(slot)
    }

    /// Frees the slot of a removed entry. When its chain goes on, the last item of the chain moves there.
    ///
    /// # Safety
    /// There must be no other user of the table; the entry is in it, and its cells have been moved out.
    pub(crate) unsafe fn vacate(self, slot: usize) {
        self.order_unlink(slot);
        let (before, last) = self.chain_end(slot);
        let before = if last == slot { self.chain_prev(slot) } else { Some(before) };
        if let Some(before) = before {
            self.set_distance(before, 0);
        }
        if last != slot {
            // SAFETY: the cells at `slot` have been moved out, and those at `last` are given up.
            unsafe { self.move_item(last, slot) }
        }
        self.set_meta(last, EMPTY);
        // SAFETY: the table is alive.
        unsafe { (*self.fields).size -= 1 };
    }

    /// Prefetches the home of a hash, to be written when an entry is added.
    #[inline]
    pub(crate) fn prefetch_home(self, hash: u64) {
        if self.exceeds_cache() {
            let slot = self.home(hash);
            prefetch::to_write(self.block_of(slot).wrapping_add(slot % BLOCK_SLOTS));
            prefetch::to_write(self.item(slot));
        }
    }
}
