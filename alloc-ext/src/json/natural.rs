//! Large whole numbers in a fixed array, with the few operations that reading and writing decimals exactly takes.
#![forbid(unsafe_code)]

use core::cmp::Ordering;

/// Words of 32 bits. The largest number is five to the power of [`MOST_DIGITS`] and 400, shifted by two bits.
const WORDS: usize = 92;

/// Decimal digits that no float and no middle between two floats exceeds: what follows them only counts as zero or not.
pub(super) const MOST_DIGITS: usize = 800;

/// A whole number; the words beyond its length are 0, and the one before them is not. What does not fit is dropped.
pub(super) struct Natural {
    words: [u32; WORDS],
    len: usize,
}

impl Natural {
    pub(super) fn new(value: u64) -> Self {
        let mut number = Self { words: [0; WORDS], len: 0 };
        number.multiply_add(1, (value >> 32) as u32);
        number.shift_left(32);
        number.multiply_add(1, value as u32);
        number
    }

    fn words(&self) -> &[u32] {
        self.words.get(..self.len).unwrap_or_default()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.len == 0
    }

    /// The number of bits without zeros in front.
    pub(super) fn bits(&self) -> u32 {
        let zeros = self.words().last().map_or(0, |word| word.leading_zeros());
        self.len as u32 * u32::BITS - zeros
    }

    pub(super) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for word in self.words.iter_mut().take(self.len) {
            carry += u64::from(*word) * u64::from(factor);
            *word = carry as u32;
            carry >>= u32::BITS;
        }
        if let (1.., Some(word)) = (carry, self.words.get_mut(self.len)) {
            *word = carry as u32;
            self.len += 1;
        }
    }

    /// Multiplies by a power of a small number.
    pub(super) fn scale(&mut self, base: u32, exponent: u32) {
        for _ in 0..exponent {
            self.multiply_add(base, 0);
        }
    }

    pub(super) fn shift_left(&mut self, bits: u32) {
        self.scale(1 << 16, bits / 16);
        self.multiply_add(1 << (bits % 16), 0);
    }

    /// Subtracts a number that is not larger.
    pub(super) fn subtract(&mut self, other: &Natural) {
        let mut borrow = 0;
        for (word, subtrahend) in self.words.iter_mut().zip(other.words).take(self.len) {
            borrow += i64::from(*word) - i64::from(subtrahend);
            *word = borrow as u32;
            borrow >>= u32::BITS;
        }
        while let Some(0) = self.words().last() {
            self.len -= 1;
        }
    }

    pub(super) fn compare(&self, other: &Natural) -> Ordering {
        let words = || self.words().iter().rev().cmp(other.words().iter().rev());
        self.len.cmp(&other.len).then_with(words)
    }

    /// Takes `other` away as often as it fits, and tells how often: for quotients that are small.
    pub(super) fn divide(&mut self, other: &Natural) -> u8 {
        let mut quotient = 0;
        while self.compare(other).is_ge() {
            self.subtract(other);
            quotient += 1;
        }
        quotient
    }
}
