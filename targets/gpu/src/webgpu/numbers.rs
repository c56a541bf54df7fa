//! Table of values with numeric handles, which callers store as pointers but never dereference.
//!
//! A handle consists of a slot index, counted from 1, and above it the number of earlier uses of
//! the slot. So the handle of a removed value never refers to a later value.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::platform::memory::Buffer;

/// Number of bits of a handle for the slot index.
const SLOT_BITS: u32 = usize::BITS / 2;
const SLOT_MASK: usize = (1 << SLOT_BITS) - 1;

/// Table of values by handle.
pub(super) struct Numbers<T> {
    slots: Buffer<Slot<T>>,
    /// Indices of empty slots.
    free: Buffer<usize>,
}

struct Slot<T> {
    /// Number of earlier uses of the slot, in the bits above [`SLOT_BITS`].
    uses: usize,
    value: Option<T>,
}

impl<T> Numbers<T> {
    /// Creates an empty table.
    pub(super) const fn new() -> Numbers<T> {
        Numbers { slots: Buffer::new(), free: Buffer::new() }
    }

    /// Adds a value. Returns its handle, which is never 0.
    ///
    /// # Errors
    /// MemoryError, also if all slot indices are in use.
    pub(super) fn insert(&mut self, value: T) -> Result<usize> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.new_slot()?,
        };
        let slot = &mut self.slots[index];
        slot.value = Some(value);
        Ok(slot.uses | (index + 1))
    }

    fn new_slot(&mut self) -> Result<usize> {
        let index = self.slots.len();
        plain_ensure!(index < SLOT_MASK, MEMORY_ERROR, "All {} numbers are taken", SLOT_MASK);
        // Reserves for all indices, so that `remove` cannot fail.
        self.free.try_reserve(index + 1)?;
        self.slots.try_push(Slot { uses: 0, value: None })?;
        Ok(index)
    }

    /// Returns the value with this handle; `None` if it was removed.
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        let slot = self.slots.get((number & SLOT_MASK).checked_sub(1)?)?;
        if slot.uses == number & !SLOT_MASK { slot.value.as_ref() } else { None }
    }

    /// Removes and returns the value with this handle; `None` if there is none.
    pub(super) fn remove(&mut self, number: usize) -> Option<T> {
        self.get(number)?;
        let index = (number & SLOT_MASK) - 1;
        let slot = &mut self.slots[index];
        let value = slot.value.take();
        // A slot whose count is exhausted stays empty.
        if let Some(uses) = slot.uses.checked_add(SLOT_MASK + 1) {
            slot.uses = uses;
            let is_listed = self.free.try_push(index);
            debug_assert!(is_listed.is_ok(), "the list has capacity for all indices");
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_that_of_one_value() -> Result<()> {
        let mut numbers = Numbers::new();
        let (one, two) = (numbers.insert("one")?, numbers.insert("two")?);
        assert_eq!((one, two), (1, 2));
        assert_eq!((numbers.get(one), numbers.get(two)), (Some(&"one"), Some(&"two")));
        assert_eq!(numbers.remove(one), Some("one"));
        assert_eq!(numbers.get(one), None);
        assert_eq!(numbers.remove(one), None);
        let three = numbers.insert("three")?;
        assert_eq!(three & SLOT_MASK, one, "the slot is used again");
        assert_eq!((numbers.get(one), numbers.get(three)), (None, Some(&"three")));
        Ok(())
    }

    #[test]
    fn numbers_that_were_not_given_have_no_value() -> Result<()> {
        let mut numbers = Numbers::new();
        numbers.insert(())?;
        for number in [0, 2, SLOT_MASK, SLOT_MASK + 1, SLOT_MASK + 2, usize::MAX] {
            assert!(numbers.get(number).is_none() && numbers.remove(number).is_none(), "{number}");
        }
        Ok(())
    }

    #[test]
    fn a_place_without_uses_left_is_not_used_again() -> Result<()> {
        let mut numbers = Numbers::new();
        numbers.insert(0)?;
        numbers.slots[0].uses = usize::MAX & !SLOT_MASK;
        let last = usize::MAX & !SLOT_MASK | 1;
        assert_eq!(numbers.remove(last), Some(0));
        assert_eq!(numbers.insert(1)?, 2);
        Ok(())
    }
}
