//! Decimal numbers of many digits, with multiplication by one-digit factors, which suffices for
//! conversion to and from floats.
#![forbid(unsafe_code)]

use core::mem;

/// Capacity in digits. No float and no midpoint between two floats has more, even while it is
/// doubled or halved in search of its mantissa.
const MOST_DIGITS: usize = 800;

/// The number `0.DIGITS * 10^point`. Digits beyond the capacity are truncated, so the stored number
/// may be smaller than the true one. No exactly representable number lies between the two; if the
/// stored number is exactly representable, `is_more` indicates that the true number is greater.
pub(in crate::json) struct LongDecimal {
    /// Digits, of which the first is not 0. Those from index `len` on are 0 until the number is
    /// rounded.
    digits: [u8; MOST_DIGITS],
    len: usize,
    pub(in crate::json) point: i32,
    /// Whether a nonzero digit has been truncated.
    is_more: bool,
}

impl LongDecimal {
    /// Creates the number zero, which has no digits.
    pub(in crate::json) fn new() -> Self {
        Self { digits: [0; MOST_DIGITS], len: 0, point: 0, is_more: false }
    }

    pub(in crate::json) fn is_zero(&self) -> bool {
        self.len == 0
    }

    /// Returns the significant digits.
    pub(in crate::json) fn digits(&self) -> &[u8] {
        self.digits.get(..self.len).unwrap_or_default()
    }

    /// Appends a digit, or truncates it beyond the capacity.
    pub(in crate::json) fn push(&mut self, digit: u8) {
        match self.digits.get_mut(self.len) {
            Some(place) => (*place, self.len) = (digit, self.len + 1),
            None => self.is_more |= digit != 0,
        }
    }

    /// Multiplies by a factor of at most 5, and adds `addend`, which is 0 or 1, to the last digit.
    pub(in crate::json) fn multiply_add(&mut self, factor: u8, addend: u8) {
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

    /// Multiplies by two to the power of `exponent`.
    pub(in crate::json) fn scale(&mut self, exponent: i32) {
        for _ in 0..exponent.unsigned_abs() {
            if exponent < 0 {
                self.multiply_add(5, 0);
                self.point -= 1;
            } else {
                self.multiply_add(2, 0);
            }
        }
    }

    /// Returns the integer formed by the first `count` digits, at most 19.
    pub(in crate::json) fn whole(&self, count: usize) -> u64 {
        self.digits.iter().take(count).fold(0, |number, digit| number * 10 + u64::from(*digit))
    }

    /// Returns `true` if all digits after the first `count` are zero.
    pub(in crate::json) fn is_whole(&self, count: usize) -> bool {
        !self.is_more && self.digits.iter().skip(count).all(|digit| *digit == 0)
    }

    /// Returns `true` if rounding to `count` digits, at least one, rounds up. Rounds half to even.
    pub(in crate::json) fn rounds_up(&self, count: usize) -> bool {
        match self.digits.get(count - 1..) {
            Some([last, 5, ..]) => last % 2 != 0 || !self.is_whole(count + 1),
            Some([_, next, ..]) => *next > 5,
            _ => false,
        }
    }

    /// Rounds half to even to at most `count` digits, at least one, and removes trailing zeros.
    /// Afterwards only [`digits`](Self::digits) and `point` are valid.
    pub(in crate::json) fn round(&mut self, count: usize) {
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
