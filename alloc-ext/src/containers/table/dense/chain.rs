//! Changes of the chains of a dense table: slots whose keys have one home, each leading on to the next by a probe distance.

use super::probe::{DISTANCES, distance};
use super::slots::{DISTANCE_BITS, Dense, EMPTY, PROTECTED, TAIL};

impl Dense<'_> {
    /// Returns the slot before this one in its chain; None for the head.
    ///
    /// Searches for the slot that leads here instead of walking from the home, so that no key hook has to run.
    pub(super) fn chain_prev(self, slot: usize) -> Option<usize> {
        if self.is_head(slot) {
            return None;
        }
        (1..DISTANCES as u8).find_map(|index| {
            let candidate = self.wrap(slot.wrapping_sub(distance(index.into())?));
            let meta = self.meta(candidate);
            (meta < PROTECTED && meta & DISTANCE_BITS == index).then_some(candidate)
        })
    }

    /// Returns the last two slots of the chain that `slot` is in, from `slot` on; `slot` twice when it is the last one.
    pub(super) fn chain_end(self, slot: usize) -> (usize, usize) {
        let (mut before, mut last) = (slot, slot);
        while let Some(next) = self.chain_next(last, self.meta(last)) {
            (before, last) = (last, next);
        }
        (before, last)
    }

    /// Links `slot` to the slot at the distance of an index, or ends the chain there with index 0.
    pub(super) fn set_distance(self, slot: usize, index: u8) {
        self.set_meta(slot, self.meta(slot) & TAIL | index);
    }

    /// Returns the nearest empty slot that `slot` can lead on to, and the index of the distance.
    pub(super) fn next_empty(self, slot: usize) -> Option<(usize, u8)> {
        (1..DISTANCES as u8).find_map(|index| {
            let candidate = self.wrap(slot.wrapping_add(distance(index.into())?));
            (self.meta(candidate) == EMPTY).then_some((candidate, index))
        })
    }
}
