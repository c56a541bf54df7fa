//! Stack of the lists being written, with constant-time membership tests, to detect cycles.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::words::GOLDEN_RATIO;

use crate::hash_index::HashIndex;

/// A stack of distinct addresses.
pub(super) struct ActiveLists {
    addresses: Buffer<usize>,
    /// Positions in `addresses`.
    index: HashIndex,
}

impl ActiveLists {
    /// Returns an empty stack. Does not allocate.
    pub(super) const fn new() -> Self {
        Self { addresses: Buffer::new(), index: HashIndex::new() }
    }

    /// Pushes an address. Returns `false` if the stack contains it already.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn push(&mut self, address: usize) -> Result<bool> {
        let position = self.addresses.len();
        if position == self.index.capacity() {
            self.index.grow()?;
        }
        self.addresses.try_reserve(1)?;
        let addresses = &self.addresses;
        let found = self.index.find_or_insert(hash(address), position, |position| {
            addresses.get(position) == Some(&address)
        });
        if found != position {
            return Ok(false);
        }
        self.addresses.try_push(address)?;
        Ok(true)
    }

    /// Pops the last address.
    pub(super) fn pop(&mut self) {
        if let Some(address) = self.addresses.pop() {
            self.index.remove(hash(address), self.addresses.len());
        }
    }
}

fn hash(address: usize) -> u32 {
    ((address as u64).wrapping_mul(GOLDEN_RATIO) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_until_it_is_popped() -> Result<()> {
        let mut active = ActiveLists::new();
        let address = |number: usize| 0x1000 + number * 56;
        for round in 0..if cfg!(miri) { 1 } else { 3 } {
            for number in 0..200 {
                assert!(active.push(address(number))?, "round {round}");
                assert!(!active.push(address(number / 2))?);
            }
            for _ in 0..150 {
                active.pop();
            }
            for number in 50..120 {
                assert!(active.push(address(number))?);
            }
            for number in 0..120 {
                assert!(!active.push(address(number))?);
            }
            for _ in 0..120 {
                active.pop();
            }
        }
        active.pop();
        assert!(active.push(address(1))?);
        Ok(())
    }
}
