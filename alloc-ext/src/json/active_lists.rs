//! The lists that are being written: a stack that tells at once whether an address is in it.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::words::GOLDEN_RATIO;

/// Addresses on a stack, and a hash table of them; only the last one can leave.
pub(super) struct ActiveLists {
    order: Buffer<usize>,
    /// Addresses at or behind the place of their hash; 0 where there is none. At most half of it is in use.
    slots: Buffer<usize>,
}

/// Slots of the first table.
const FIRST_SLOTS: usize = 16;

impl ActiveLists {
    /// An empty stack, which owns no memory.
    pub(super) const fn new() -> Self {
        Self { order: Buffer::new(), slots: Buffer::new() }
    }

    /// Puts an address on the stack; answers false when it is there already.
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

    /// Takes the last address off.
    pub(super) fn pop(&mut self) {
        let Some(address) = self.order.pop() else { return };
        // No address that is left was pushed later, so none has been pushed past this slot.
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

/// The slot that holds `address`, or the empty one where it belongs. The table has a power of two of slots, some empty.
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
