//! The insertion order of a dense table: a list of its slots, doubly linked by slot numbers.

use super::slots::{Dense, Link};
use crate::containers::table::layout::NO_SLOT;

/// Returns the slot of a link.
#[inline]
fn slot_of(link: Link) -> usize {
    link as usize
}

/// Returns the link to a slot, sign-extended so that [`NO_SLOT`] stays all ones.
#[inline]
fn link_to(slot: usize) -> Link {
    slot as isize as Link
}

impl Dense<'_> {
    /// Returns the first slot in order, as the fields have it: in use, unless there is no entry.
    #[inline]
    pub(crate) fn first_slot(self) -> usize {
        // SAFETY: the table is alive.
        slot_of(unsafe { (*self.fields).iter_head })
    }

    /// Returns the slot after one in order, as its link has it: in use, or [`NO_SLOT`].
    ///
    /// # Safety
    /// The slot is in use.
    #[inline]
    pub(crate) unsafe fn slot_after(self, slot: usize) -> usize {
        // SAFETY: the links of a used slot are initialised.
        slot_of(unsafe { (*self.item(slot)).next })
    }

    /// Moves the words of an item to another slot, which takes its place in the order. Metadata stays.
    ///
    /// # Safety
    /// The cells at `target` must be unused, and those at `source` must not be used afterwards.
    pub(super) unsafe fn move_item(self, source: usize, target: usize) {
        // SAFETY: both slots exist; the links of the source are initialised.
        unsafe {
            self.cells(target).move_from(self.cells(source));
            let (prev, next) = self.neighbours(source);
            self.order_link(prev, target);
            self.order_link(target, next);
        }
    }

    /// Links `next` after `prev` in the order; [`NO_SLOT`] stands for the ends.
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

    /// Returns the slots before and after a slot in the order.
    ///
    /// # Safety
    /// The slot is in use.
    #[inline]
    unsafe fn neighbours(self, slot: usize) -> (usize, usize) {
        // SAFETY: the links of a used slot are initialised.
        unsafe { (slot_of((*self.item(slot)).prev), slot_of((*self.item(slot)).next)) }
    }

    /// Unlinks a slot in use from the order.
    pub(super) fn order_unlink(self, slot: usize) {
        // SAFETY: the slot is in use.
        let (prev, next) = unsafe { self.neighbours(slot) };
        self.order_link(prev, next);
    }

    /// Links a slot at the end of the order.
    pub(super) fn order_push(self, slot: usize) {
        // SAFETY: the table is alive.
        let tail = slot_of(unsafe { (*self.fields).iter_tail });
        self.order_link(tail, slot);
        self.order_link(slot, NO_SLOT);
    }
}
