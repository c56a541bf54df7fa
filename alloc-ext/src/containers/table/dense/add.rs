//! Adding and removing entries of a dense table.

#[cfg(feature = "speed")]
use ferrite_core::error::Result;
use ferrite_core::platform::prefetch;
#[cfg(feature = "speed")]
use ferrite_core::value::any::AnyView;

use super::relocate;
use super::slots::{BLOCK_SLOTS, Dense, EMPTY, HEAD, TAIL};
use crate::containers::table::entry::{Entry, KeyEntry};
use crate::containers::table::layout::{NO_SLOT, TableFields};

impl Dense<'_> {
    /// Returns the entry for a key with the given hash, existing or new; `None` if the table must
    /// grow. An existing entry moves to the end of the order.
    ///
    /// # Errors
    /// Errors of key hooks. On failure the table is unchanged.
    ///
    /// # Safety
    /// Same requirements as [`add`](Self::add), except that key hooks may use the table.
    #[cfg(feature = "speed")]
    #[inline]
    pub(crate) unsafe fn find_or_add(
        self,
        key: &AnyView<'_>,
        hash: u64,
    ) -> Result<Option<KeyEntry>> {
        let slot = self.find(key, hash)?;
        // SAFETY: guaranteed by the caller; no user callback runs any more.
        Ok(unsafe { self.present_or_add(slot, hash) })
    }

    /// Returns the entry at `slot`, or the cells of a new one for a key with the given hash, for
    /// [`NO_SLOT`]; `None` if the table must grow. An existing entry moves to the end of the order.
    ///
    /// # Safety
    /// Same requirements as [`add`](Self::add).
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

    /// Occupies a slot for a key with the given hash, at the end of its chain and of the order.
    /// Returns `None` if the table must grow.
    ///
    /// The caller must write key and value before any other operation.
    ///
    /// # Safety
    /// Nothing else may use the table, and the key must not be in it.
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
            return unsafe { relocate::move_chain_away(self, home) }
                .then(|| self.occupy(home, HEAD));
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
        unsafe { TableFields::set_len(self.fields, self.len() + 1) };
        self.cells(slot)
    }

    /// Frees the slot of a removed entry. If its chain continues, the last item of the chain moves
    /// to the slot.
    ///
    /// # Safety
    /// Nothing else may use the table. The entry must be in it, with key and value already moved
    /// out.
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
        unsafe { TableFields::set_len(self.fields, self.len() - 1) };
    }

    /// Prefetches the home slot of a hash for writing, before an entry is added.
    #[inline]
    pub(crate) fn prefetch_home(self, hash: u64) {
        if self.exceeds_cache() {
            let slot = self.home(hash);
            prefetch::to_write(self.block_of(slot).wrapping_add(slot % BLOCK_SLOTS));
            prefetch::to_write(self.item(slot));
        }
    }
}
