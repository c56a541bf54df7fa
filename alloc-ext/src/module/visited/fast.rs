//! Set with linear search up to eight modules, then a hash table.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// Sets up to this size are searched linearly, which suffices for most import trees.
const LINEAR_MODULES: usize = 8;

/// A set of addresses. The table uses open addressing with linear probing and 0 for an empty slot; the load factor is at
/// most one half.
pub(in crate::module) struct VisitedSet {
    first: [usize; LINEAR_MODULES],
    slots: Buffer<usize>,
    len: usize,
}

impl VisitedSet {
    pub(in crate::module) const fn new() -> Self {
        VisitedSet { first: [0; LINEAR_MODULES], slots: Buffer::new(), len: 0 }
    }

    /// Inserts an address other than null. Returns `false` if it was in the set.
    ///
    /// # Errors
    /// MemoryError.
    pub(in crate::module) fn insert(&mut self, address: usize) -> Result<bool> {
        if self.len < LINEAR_MODULES || self.slots.is_empty() {
            let seen = self.first.get(..self.len.min(LINEAR_MODULES)).unwrap_or(&[]);
            if seen.contains(&address) {
                return Ok(false);
            }
            if let Some(slot) = self.first.get_mut(self.len) {
                *slot = address;
                self.len += 1;
                return Ok(true);
            }
            self.rehash(LINEAR_MODULES * 4)?;
        } else if self.len >= self.slots.len() / 2 {
            self.rehash(self.slots.len().saturating_mul(2))?;
        }
        let added = place(&mut self.slots, address);
        self.len += usize::from(added);
        Ok(added)
    }

    fn rehash(&mut self, slot_count: usize) -> Result<()> {
        let mut slots = Buffer::new();
        slots.try_reserve(slot_count)?;
        for _ in 0..slot_count {
            slots.try_push(0)?;
        }
        let old: &[usize] = if self.slots.is_empty() { &self.first } else { &self.slots };
        for &address in old.iter().filter(|address| **address != 0) {
            place(&mut slots, address);
        }
        self.slots = slots;
        Ok(())
    }
}

/// Inserts `address` into a table with an empty slot, whose length is a power of two. Returns `false` if it was there.
fn place(slots: &mut [usize], address: usize) -> bool {
    let mask = slots.len().wrapping_sub(1);
    // Objects are 16 bytes apart; the multiplier spreads the bits above those four.
    let mut index = (address >> 4).wrapping_mul(0x9e37_79b9) & mask;
    for _ in 0..slots.len() {
        match slots.get_mut(index) {
            Some(slot) if *slot == address => return false,
            Some(slot) if *slot == 0 => {
                *slot = address;
                return true;
            }
            _ => index = index.wrapping_add(1) & mask,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_every_address_once() {
        let mut visited = VisitedSet::new();
        for round in 0..2 {
            for address in (1..if cfg!(miri) { 100 } else { 2000 }).map(|n: usize| n * 48) {
                assert_eq!(visited.insert(address).unwrap(), round == 0, "{address}");
            }
        }
    }
}
