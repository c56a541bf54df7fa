//! The set of modules that a walk over imports has seen, so that shared imports are visited once.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// Up to this many modules are compared one by one, which is all that most import trees need.
const LINEAR_MODULES: usize = 8;

/// A set of addresses with open addressing: linear probing, at most half full, zero marks a free slot.
pub(crate) struct Visited {
    first: [usize; LINEAR_MODULES],
    slots: Buffer<usize>,
    len: usize,
}

impl Visited {
    pub(crate) const fn new() -> Self {
        Visited { first: [0; LINEAR_MODULES], slots: Buffer::new(), len: 0 }
    }

    /// Adds `address`, which is not null; false when it was there.
    ///
    /// # Errors
    /// `MemoryError` when the set cannot grow.
    pub(crate) fn insert(&mut self, address: usize) -> Result<bool> {
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

/// Puts `address` into a table whose length is a power of two and that has a free slot.
fn place(slots: &mut [usize], address: usize) -> bool {
    let mask = slots.len().wrapping_sub(1);
    // Objects lie 16 bytes apart; the multiplier spreads the bits above those four.
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
        let mut visited = Visited::new();
        for round in 0..2 {
            for address in (1..if cfg!(miri) { 100 } else { 2000 }).map(|n: usize| n * 48) {
                assert_eq!(visited.insert(address).unwrap(), round == 0, "{address}");
            }
        }
    }
}
