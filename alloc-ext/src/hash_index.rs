//! Hash index into a buffer of elements, for visited sets, identity maps and graph numbering.
//!
//! Each slot stores the hash with the position. A search therefore reads only elements with an
//! equal hash, and growth does not rehash keys, whose hooks could fail.
#![forbid(unsafe_code)]

use core::mem;

use ferrite_core::platform::memory::{AllocError, Buffer};

/// A hash table of positions with open addressing and linear probing. The high bits of a hash
/// select its home slot.
#[derive(Default)]
pub(crate) struct HashIndex {
    /// Slots; the number is zero or a power of two. There is no empty slot between the home slot of
    /// a hash and its position.
    slots: Buffer<IndexSlot>,
}

#[derive(Clone, Copy, Default)]
struct IndexSlot {
    hash: u32,
    /// Position plus one; 0 marks an empty slot.
    number: u32,
}

impl IndexSlot {
    fn new(hash: u32, position: usize) -> Self {
        Self { hash, number: position as u32 + 1 }
    }

    fn position(self) -> Option<usize> {
        (self.number as usize).checked_sub(1)
    }
}

/// Number of slots after the first allocation.
const FIRST_SLOTS: usize = 16;

impl HashIndex {
    /// Returns an empty index. Does not allocate.
    pub(crate) const fn new() -> Self {
        Self { slots: Buffer::new() }
    }

    /// Returns the number of positions that fit without growth. The maximum load factor is one
    /// half.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len() / 2
    }

    /// Returns the capacity that the next [`grow`](Self::grow) will give.
    pub(crate) fn next_capacity(&self) -> usize {
        self.slots.len().max(FIRST_SLOTS / 2)
    }

    /// Doubles the capacity. On failure, the index is unchanged.
    ///
    /// # Errors
    /// AllocError when out of memory, and for more than 2^32 positions.
    pub(crate) fn grow(&mut self) -> Result<(), AllocError> {
        if self.next_capacity() > u32::MAX as usize {
            return Err(AllocError::new(usize::MAX));
        }
        let mut slots = Buffer::new();
        slots.try_resize(2 * self.next_capacity(), IndexSlot::default())?;
        let old = mem::replace(&mut self.slots, slots);
        old.iter().filter(|slot| slot.number != 0).for_each(|slot| self.place(*slot));
        Ok(())
    }

    /// Returns the position stored with `hash` for which `is_it` returns `true`; `None` if there is
    /// none.
    #[inline]
    pub(crate) fn find(&self, hash: u32, is_it: impl FnMut(usize) -> bool) -> Option<usize> {
        self.search(hash, is_it)?.1.position()
    }

    /// Returns the position stored with `hash` for which `is_it` returns `true`; inserts and
    /// returns `new` if there is none. The caller keeps the number of positions below the capacity,
    /// and at most `u32::MAX - 1`.
    #[inline]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u32,
        new: usize,
        is_it: impl FnMut(usize) -> bool,
    ) -> usize {
        let Some((at, slot)) = self.search(hash, is_it) else { return new };
        slot.position().unwrap_or_else(|| {
            self.put(at, IndexSlot::new(hash, new));
            new
        })
    }

    /// Removes a position, which must be in the index.
    pub(crate) fn remove(&mut self, hash: u32, old: usize) {
        let Some((mut at, _)) = self.search(hash, |position| position == old) else { return };
        self.put(at, IndexSlot::default());
        // Reinserts the rest of the probe sequence, up to the next empty slot.
        loop {
            at = (at + 1) & (self.slots.len() - 1);
            let slot = self.put(at, IndexSlot::default());
            if slot.number == 0 {
                return;
            }
            self.place(slot);
        }
    }

    /// Replaces a position, which must be in the index, by a new one with the same hash.
    pub(crate) fn replace(&mut self, hash: u32, old: usize, new: usize) {
        if let Some((at, _)) = self.search(hash, |position| position == old) {
            self.put(at, IndexSlot::new(hash, new));
        }
    }

    /// Returns the index and content of the slot for which `is_it` returns `true`, or of the empty
    /// slot where the position would be inserted. Returns `None` for a table without slots.
    #[inline]
    fn search(
        &self,
        hash: u32,
        mut is_it: impl FnMut(usize) -> bool,
    ) -> Option<(usize, IndexSlot)> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = ((u64::from(hash) * self.slots.len() as u64) >> 32) as usize;
        loop {
            let slot = *self.slots.get(at)?;
            match slot.position() {
                Some(position) if slot.hash != hash || !is_it(position) => at = (at + 1) & mask,
                _ => return Some((at, slot)),
            }
        }
    }

    /// Inserts a slot at the first empty slot of its probe sequence.
    fn place(&mut self, slot: IndexSlot) {
        if let Some((at, _)) = self.search(slot.hash, |_| false) {
            self.put(at, slot);
        }
    }

    /// Replaces the slot at index `at`. Returns the old slot.
    fn put(&mut self, at: usize, slot: IndexSlot) -> IndexSlot {
        self.slots.get_mut(at).map(|place| mem::replace(place, slot)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions of numbers with all kinds of collisions: equal hashes, the same first slot, and at
    /// the end of the slots.
    #[test]
    fn positions_are_found_until_they_are_removed() -> Result<(), AllocError> {
        let hash_of = |number: usize| (number as u32 % 7).wrapping_mul(0xffff_fff5);
        let mut index = HashIndex::new();
        assert_eq!(index.find(0, |_| true), None);
        for number in 0..100 {
            if number == index.capacity() {
                index.grow()?;
            }
            assert_eq!(
                index.find_or_insert(hash_of(number), number, |known| known == number),
                number
            );
        }
        assert_eq!(index.find_or_insert(hash_of(7), 100, |known| known == 7), 7);
        for removed in 0..100 {
            let removed = removed * 37 % 100;
            index.remove(hash_of(removed), removed);
            assert_eq!(index.find(hash_of(removed), |known| known == removed), None);
            index.find_or_insert(hash_of(removed), removed + 1000, |_| false);
            index.replace(hash_of(removed), removed + 1000, removed + 2000);
            for number in 0..100 {
                let either = |known: usize| known == number || known == number + 2000;
                assert!(index.find(hash_of(number), either).is_some());
            }
        }
        Ok(())
    }
}
