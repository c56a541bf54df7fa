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
        let mut number = Self { words: [0; WORDS], len: 0 };
        for shift in [48, 32, 16, 0] {
            number.shift_word();
            number.multiply_add(1, u32::from((value >> shift) as u16));
        }
        number
    }

    /// Words without zeros in front.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The word that many places behind the first one; 0 behind the last.
    fn word(&self, behind: usize) -> u16 {
        self.len.checked_sub(behind + 1).and_then(|at| self.words.get(at)).copied().unwrap_or(0)
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
        while self.len != 0 && self.word(0) == 0 {
            self.len -= 1;
        }
        rest
    }

    /// The number, if 64 bits hold it.
    pub(super) fn value(&self) -> Option<u64> {
        (self.len <= WORDS_IN_64).then(|| self.first(self.len))
    }

    /// The number that the first words make, at most four.
    fn first(&self, count: usize) -> u64 {
        (0..count).fold(0, |value, behind| value << u16::BITS | u64::from(self.word(behind)))
    }

    /// The first 64 bits of a number other than 0, the power of two that they count, and whether any of the others is set.
    pub(super) fn top(&mut self) -> (u64, i32, bool) {
        let zeros = self.word(0).leading_zeros();
        self.multiply_add(1 << zeros, 0);
        let exponent = (self.len as i32 - WORDS_IN_64 as i32) * u16::BITS as i32 - zeros as i32;
        let is_more = self.words.iter().take(self.len.saturating_sub(WORDS_IN_64)).any(|word| *word != 0);
        (self.first(WORDS_IN_64), exponent, is_more)
    }
}
