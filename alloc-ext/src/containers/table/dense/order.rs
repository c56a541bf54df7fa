//! Insertion order of a dense table: a list of its slots, doubly linked by slot numbers.

use super::slots::{Dense, Link};
use crate::containers::table::layout::NO_SLOT;

/// Converts a link to a slot number.
#[inline]
fn slot_of(link: Link) -> usize {
    link as usize
}

/// Converts a slot number to a link, sign-extended so that [`NO_SLOT`] stays all ones.
#[inline]
fn link_to(slot: usize) -> Link {
    slot as isize as Link
}

impl Dense<'_> {
    /// Returns the first slot in order, read from the fields without a check. It is in use if the
    /// table has entries.
    #[inline]
    pub(crate) fn first_slot(self) -> usize {
        // SAFETY: the table is alive.
        slot_of(unsafe { (*self.fields).iter_head })
    }

    /// Returns the next slot in order, read from the link of `slot` without a check: a slot in use,
    /// or [`NO_SLOT`].
    ///
    /// # Safety
    /// The slot must be in use.
    #[inline]
    pub(crate) unsafe fn slot_after(self, slot: usize) -> usize {
        // SAFETY: the links of a used slot are initialised.
        slot_of(unsafe { (*self.item(slot)).next })
    }

    /// Moves an item to another slot, and links that slot in its place in the order. Does not
    /// change metadata.
    ///
    /// # Safety
    /// The item at `target` must be unused. The item at `source` must not be used afterwards.
    pub(super) unsafe fn move_item(self, source: usize, target: usize) {
        // SAFETY: both slots exist; the links of the source are initialised.
        unsafe {
            self.cells(target).move_from(self.cells(source));
            let (prev, next) = self.neighbours(source);
            self.order_link(prev, target);
            self.order_link(target, next);
        }
    }

    /// Links `next` after `prev` in the order. [`NO_SLOT`] stands for either end.
    #[inline]
    fn order_link(self, prev: usize, next: usize) {
        // SAFETY: links lead to slots in use, or say that there is none.
        unsafe {
            let forward = match prev {
                NO_SLOT => &raw mut (*self.fields).iter_head,
                _ => &raw mut (*self.item(prev)).next,
            };
            let backward = match next {
                NO_SLOT => &raw mut (*self.fields).iter_tail,
                _ => &raw mut (*self.item(next)).prev,
            };
            forward.write(link_to(next));
            backward.write(link_to(prev));
        }
    }

    /// Returns the previous and the next slot in the order.
    ///
    /// # Safety
    /// The slot must be in use.
    #[inline]
    unsafe fn neighbours(self, slot: usize) -> (usize, usize) {
        // SAFETY: the links of a used slot are initialised.
        unsafe { (slot_of((*self.item(slot)).prev), slot_of((*self.item(slot)).next)) }
    }

    /// Removes a slot in use from the order.
    pub(super) fn order_unlink(self, slot: usize) {
        // SAFETY: the slot is in use.
        let (prev, next) = unsafe { self.neighbours(slot) };
        self.order_link(prev, next);
    }

    /// Appends a slot to the order.
    pub(super) fn order_push(self, slot: usize) {
        // SAFETY: the table is alive.
        let tail = slot_of(unsafe { (*self.fields).iter_tail });
        self.order_link(tail, slot);
        self.order_link(slot, NO_SLOT);
    }
}
