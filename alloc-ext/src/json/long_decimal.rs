//! Decimal numbers of many digits, with what takes them to floats and back: multiplication by a digit.
#![forbid(unsafe_code)]

use core::mem;

/// Digits that are kept. No float and no middle between two floats has more, neither before nor after it was doubled or
/// halved on its way to a mantissa.
const MOST_DIGITS: usize = 800;

/// The number `0.DIGITS * 10^point`. What does not fit is dropped in each step. So a number may be too small, but it does not
/// fall below one that always fits and is not above it, and if it meets that one, it is known to be more.
pub(super) struct LongDecimal {
    /// The first one is not 0; behind the last one there are zeros, until it is rounded.
    digits: [u8; MOST_DIGITS],
    len: usize,
    pub(super) point: i32,
    /// Whether a digit other than 0 was dropped.
    is_more: bool,
}

impl LongDecimal {
    /// Zero, without a digit.
    pub(super) fn new() -> Self {
        Self { digits: [0; MOST_DIGITS], len: 0, point: 0, is_more: false }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.len == 0
    }

    /// The digits.
    pub(super) fn digits(&self) -> &[u8] {
        self.digits.get(..self.len).unwrap_or_default()
    }

    /// Puts a digit behind the last one.
    pub(super) fn push(&mut self, digit: u8) {
        match self.digits.get_mut(self.len) {
            Some(place) => (*place, self.len) = (digit, self.len + 1),
            None => self.is_more |= digit != 0,
        }
    }

    /// Multiplies by a number up to 5, and adds one that is less to the last digit.
    pub(super) fn multiply_add(&mut self, factor: u8, addend: u8) {
        let Some(digits) = self.digits.get_mut(..self.len) else { return };
        let mut carry = addend;
        for digit in digits.iter_mut().rev() {
            let sum = *digit * factor + carry;
            (*digit, carry) = (sum % 10, sum / 10);
        }
        if carry != 0 {
            for digit in digits {
                carry = mem::replace(digit, carry);
            }
            self.push(carry);
            self.point += 1;
        }
    }

    /// Multiplies by a power of two.
    pub(super) fn scale(&mut self, exponent: i32) {
        for _ in 0..exponent.unsigned_abs() {
            if exponent < 0 {
                self.multiply_add(5, 0);
                self.point -= 1;
            } else {
                self.multiply_add(2, 0);
            }
        }
    }

    /// The number that the first `count` digits make, at most 19.
    pub(super) fn whole(&self, count: usize) -> u64 {
        self.digits.iter().take(count).fold(0, |number, digit| number * 10 + u64::from(*digit))
    }

    /// Whether nothing follows the first `count` digits.
    pub(super) fn is_whole(&self, count: usize) -> bool {
        !self.is_more && self.digits.iter().skip(count).all(|digit| *digit == 0)
    }

    /// Whether the number that the first `count` digits make, at least one, is to be one more: to be the nearest one, or even
    /// where two are.
    pub(super) fn rounds_up(&self, count: usize) -> bool {
        match self.digits.get(count - 1..) {
            Some([last, 5, ..]) => last % 2 != 0 || !self.is_whole(count + 1),
            Some([_, next, ..]) => *next > 5,
            _ => false,
        }
    }

    /// Rounds to at most `count` digits, at least one, and takes zeros at the end away. Only [`digits`](Self::digits) and the
    /// point are right afterwards.
    pub(super) fn round(&mut self, count: usize) {
        if self.len > count {
            let is_up = self.rounds_up(count);
            self.len = count;
            self.multiply_add(1, is_up.into());
        }
        while let [.., 0] = self.digits() {
            self.len -= 1;
        }
    }
}
