//! Operations on the chains of a dense table: slots of keys with the same home slot, each linked to
//! the next by a probe distance.

use super::probe::{DISTANCES, distance};
use super::slots::{DISTANCE_BITS, Dense, EMPTY, PROTECTED, TAIL};

impl Dense<'_> {
    /// Returns the previous slot in the chain of `slot`; `None` for the head.
    ///
    /// Tries all probe distances backwards instead of walking from the home slot, which would
    /// require calling a key hook.
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

    /// Returns the last two slots of the chain, starting from `slot`. If `slot` is the last one,
    /// both are `slot`.
    pub(super) fn chain_end(self, slot: usize) -> (usize, usize) {
        let (mut before, mut last) = (slot, slot);
        while let Some(next) = self.chain_next(last, self.meta(last)) {
            (before, last) = (last, next);
        }
        (before, last)
    }

    /// Sets the probe-distance index from `slot` to the next slot of its chain; 0 marks the end of
    /// the chain.
    pub(super) fn set_distance(self, slot: usize, index: u8) {
        self.set_meta(slot, self.meta(slot) & TAIL | index);
    }

    /// Returns the nearest empty slot at a probe distance from `slot`, and the index of that
    /// distance; `None` if there is none.
    pub(super) fn next_empty(self, slot: usize) -> Option<(usize, u8)> {
        (1..DISTANCES as u8).find_map(|index| {
            let candidate = self.wrap(slot.wrapping_add(distance(index.into())?));
            (self.meta(candidate) == EMPTY).then_some((candidate, index))
        })
    }
}
