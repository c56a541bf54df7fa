//! Large whole numbers in a fixed array, with the few operations that reading and writing decimals exactly takes.
#![forbid(unsafe_code)]

/// Words of 16 bits, so that products and quotients are those of small cores. The largest number has 80 bits more than five to
/// the power of [`MOST_DIGITS`] and 400, and part of a word.
const WORDS: usize = 184;

/// Decimal digits that no float and no middle between two floats exceeds: what follows them only counts as zero or not.
pub(super) const MOST_DIGITS: i32 = 800;

/// Words of the longest number that is also one of 64 bits.
const WORDS_IN_64: usize = 4;

/// A whole number; the words beyond its length are 0, and the one before them is not. What does not fit is dropped.
pub(super) struct Natural {
    words: [u16; WORDS],
    len: usize,
}

impl Natural {
    pub(super) fn new(value: u64) -> Self {
        let mut number = Self { words: [0; WORDS], len: WORDS_IN_64 };
        for (at, word) in number.words.iter_mut().take(WORDS_IN_64).enumerate() {
            *word = (value >> (at as u32 * u16::BITS)) as u16;
        }
        number.drop_zeros();
        number
    }

    /// Words without zeros in front.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Factor and addend are below 2^16.
    pub(super) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = addend;
        for (at, word) in self.words.iter_mut().enumerate() {
            if at >= self.len {
                if carry == 0 {
                    return;
                }
                self.len = at + 1;
            }
            carry += u32::from(*word) * factor;
            *word = carry as u16;
            carry >>= u16::BITS;
        }
    }

    /// Multiplies by a power of a small number.
    pub(super) fn scale(&mut self, base: u32, exponent: u32) {
        for _ in 0..exponent {
            self.multiply_add(base, 0);
        }
    }

    /// Multiplies by 2^16.
    pub(super) fn shift_word(&mut self) {
        self.scale(1 << 8, 2);
    }

    /// Divides by a small number, and gives what remains.
    pub(super) fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for word in self.words.iter_mut().take(self.len).rev() {
            rest = rest << u16::BITS | u32::from(*word);
            *word = (rest / divisor) as u16;
            rest %= divisor;
        }
        self.drop_zeros();
        rest
    }

    /// Takes zeros in front out of the length.
    fn drop_zeros(&mut self) {
        while let Some(first) = self.len.checked_sub(1)
            && self.words.get(first) == Some(&0)
        {
            self.len = first;
        }
    }

    /// The number, if 64 bits hold it.
    pub(super) fn value(&self) -> Option<u64> {
        if self.len > WORDS_IN_64 {
            return None;
        }
        let words = self.words.iter().take(WORDS_IN_64);
        Some(words.rev().fold(0, |value, word| value << u16::BITS | u64::from(*word)))
    }
}
