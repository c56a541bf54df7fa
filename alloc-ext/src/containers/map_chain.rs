//! The chains of a dense table: slots whose keys have one home, each leading on to the next by a distance in its metadata.

use super::jump::{self, JUMPS};
use super::map_dense::{Dense, EMPTY, PROTECTED};

/// Metadata of the first item of a chain that ends there.
pub(super) const HEAD: u8 = 0x00;
/// Metadata of a later item of a chain that ends there; as a bit, set in every later item.
pub(super) const TAIL: u8 = 0x80;
/// Bits of the metadata that name the distance to the next item of the chain.
pub(super) const JUMP_BITS: u8 = 0x7f;

impl Dense<'_> {
    #[inline]
    pub(super) fn is_head(self, slot: usize) -> bool {
        self.meta(slot) & TAIL == 0
    }

    /// The first slot of the chain of a hash; None when there is none, or when another chain goes through its home.
    #[inline]
    pub(super) fn chain_first(self, hash: u64) -> Option<usize> {
        if self.slots() == 0 {
            return None;
        }
        Some(self.home(hash)).filter(|home| self.is_head(*home))
    }

    /// The next slot of a chain, from a slot with this metadata.
    #[inline]
    pub(super) fn chain_next(self, slot: usize, meta: u8) -> Option<usize> {
        match jump::distance((meta & JUMP_BITS) as usize) {
            None | Some(0) => None,
            Some(distance) => Some(self.wrap(slot.wrapping_add(distance))),
        }
    }

    /// The slot before this one in its chain; None for the head.
    ///
    /// Looks for the slot that leads here instead of walking from the home, so that no key hook has to run.
    pub(super) fn chain_prev(self, slot: usize) -> Option<usize> {
        if self.is_head(slot) {
            return None;
        }
        (1..JUMPS as u8).find_map(|jump| {
            let candidate = self.wrap(slot.wrapping_sub(jump::distance(jump.into())?));
            let meta = self.meta(candidate);
            (meta < PROTECTED && meta & JUMP_BITS == jump).then_some(candidate)
        })
    }

    /// The last slot of the chain that `slot` is in, and the one before it; `slot` itself, when that is the last.
    pub(super) fn chain_end(self, slot: usize) -> (usize, usize) {
        let (mut before, mut last) = (slot, slot);
        while let Some(next) = self.chain_next(last, self.meta(last)) {
            (before, last) = (last, next);
        }
        (before, last)
    }

    /// Makes `slot` lead on by the distance of index `jump`, 0 for the end of the chain.
    pub(super) fn set_jump(self, slot: usize, jump: u8) {
        self.set_meta(slot, self.meta(slot) & TAIL | jump);
    }

    /// The nearest empty slot that `slot` can lead on to, and the index of the distance.
    pub(super) fn next_empty(self, slot: usize) -> Option<(usize, u8)> {
        (1..JUMPS as u8).find_map(|jump| {
            let candidate = self.wrap(slot.wrapping_add(jump::distance(jump.into())?));
            (self.meta(candidate) == EMPTY).then_some((candidate, jump))
        })
    }
}
