//! Stack of the lists that are being written, with constant-time membership tests, to detect cycles.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::words::GOLDEN_RATIO;

/// A stack of addresses with a hash table of them.
pub(super) struct ActiveLists {
    order: Buffer<usize>,
    /// Open addressing with linear probing; 0 for an empty slot. The load factor is at most one half.
    slots: Buffer<usize>,
}

/// Number of slots of the first table.
const FIRST_SLOTS: usize = 16;

impl ActiveLists {
    /// Returns an empty stack. Does not allocate.
    pub(super) const fn new() -> Self {
        Self { order: Buffer::new(), slots: Buffer::new() }
    }

    /// Pushes an address. Returns `false` if it is on the stack already.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn push(&mut self, address: usize) -> Result<bool> {
        if 2 * (self.order.len() + 1) > self.slots.len() {
            self.grow()?;
        }
        let Some(slot) = find(&mut self.slots, address) else { return Ok(true) };
        if *slot == address {
            return Ok(false);
        }
        self.order.try_push(address)?;
        *slot = address;
        Ok(true)
    }

    /// Pops the last address.
    pub(super) fn pop(&mut self) {
        let Some(address) = self.order.pop() else { return };
        // Only later insertions can have probed past this slot, and they are gone, so it may simply be emptied.
        if let Some(slot) = find(&mut self.slots, address) {
            *slot = 0;
        }
    }

    fn grow(&mut self) -> Result<()> {
        let mut slots = Buffer::new();
        slots.try_resize((2 * self.slots.len()).max(FIRST_SLOTS), 0)?;
        for address in &self.order {
            if let Some(slot) = find(&mut slots, *address) {
                *slot = *address;
            }
        }
        self.slots = slots;
        Ok(())
    }
}

/// Returns the slot of `address`, or the empty slot for its insertion. The number of slots is a power of two, and some are
/// empty.
fn find(slots: &mut [usize], address: usize) -> Option<&mut usize> {
    let mask = slots.len().checked_sub(1)?;
    let hash = (address as u64).wrapping_mul(GOLDEN_RATIO) >> 32;
    let mut at = hash as usize & mask;
    while slots.get(at).is_some_and(|found| *found != 0 && *found != address) {
        at = (at + 1) & mask;
    }
    slots.get_mut(at)
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
