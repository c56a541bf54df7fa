//! Numbers for values that others hold as if they were pointers, never followed.
//!
//! A number consists of a place in the table, from 1, and above that of how often the place was used before. So the number of a
//! value that is gone is not that of any later one.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::plain_ensure;

/// The low bits of a number, which are the place.
const PLACE_BITS: u32 = usize::BITS / 2;
const PLACE_MASK: usize = (1 << PLACE_BITS) - 1;

/// Values by their numbers.
pub(super) struct Numbers<T> {
    places: Buffer<Place<T>>,
    /// Indices of places without a value.
    free: Buffer<usize>,
}

struct Place<T> {
    /// How often the place was used before, in the bits above [`PLACE_BITS`].
    uses: usize,
    value: Option<T>,
}

impl<T> Numbers<T> {
    /// No values.
    pub(super) const fn new() -> Numbers<T> {
        Numbers { places: Buffer::new(), free: Buffer::new() }
    }

    /// Gives a value a number, which is not 0.
    ///
    /// # Errors
    /// MemoryError, also when all places are taken.
    pub(super) fn insert(&mut self, value: T) -> Result<usize> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.new_place()?,
        };
        let place = &mut self.places[index];
        place.value = Some(value);
        Ok(place.uses | (index + 1))
    }

    fn new_place(&mut self) -> Result<usize> {
        let index = self.places.len();
        plain_ensure!(index < PLACE_MASK, MEMORY_ERROR, "All {} numbers are taken", PLACE_MASK);
        // Room for all indices, so that removing cannot fail.
        self.free.try_reserve(index + 1)?;
        self.places.try_push(Place { uses: 0, value: None })?;
        Ok(index)
    }

    /// The value of a number.
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        let place = self.places.get((number & PLACE_MASK).checked_sub(1)?)?;
        if place.uses == number & !PLACE_MASK { place.value.as_ref() } else { None }
    }

    /// Takes a value out of the table.
    pub(super) fn remove(&mut self, number: usize) -> Option<T> {
        self.get(number)?;
        let index = (number & PLACE_MASK) - 1;
        let place = &mut self.places[index];
        let value = place.value.take();
        // A place that has no uses left stays empty.
        if let Some(uses) = place.uses.checked_add(PLACE_MASK + 1) {
            place.uses = uses;
            let is_listed = self.free.try_push(index);
            debug_assert!(is_listed.is_ok(), "there is room for all indices");
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
        assert_eq!(three & PLACE_MASK, one, "the place is used again");
        assert_eq!((numbers.get(one), numbers.get(three)), (None, Some(&"three")));
        Ok(())
    }

    #[test]
    fn numbers_that_were_not_given_have_no_value() -> Result<()> {
        let mut numbers = Numbers::new();
        numbers.insert(())?;
        for number in [0, 2, PLACE_MASK, PLACE_MASK + 1, PLACE_MASK + 2, usize::MAX] {
            assert!(numbers.get(number).is_none() && numbers.remove(number).is_none(), "{number}");
        }
        Ok(())
    }

    #[test]
    fn a_place_without_uses_left_is_not_used_again() -> Result<()> {
        let mut numbers = Numbers::new();
        numbers.insert(0)?;
        numbers.places[0].uses = usize::MAX & !PLACE_MASK;
        let last = usize::MAX & !PLACE_MASK | 1;
        assert_eq!(numbers.remove(last), Some(0));
        assert_eq!(numbers.insert(1)?, 2);
        Ok(())
    }
}
