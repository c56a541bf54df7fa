//! Fast path for short ints, and for short floats that are the quotient of two exactly representable numbers.
#![forbid(unsafe_code)]

use crate::json::digits;
use crate::json::number::{Number, is_number_byte};

/// Number of decimal digits that always fit in a signed 64-bit integer.
const SAFE_DIGITS: usize = 18;
/// Upper bound of the integers that are exactly representable as floats.
const MOST_EXACT: u64 = 1 << 53;

/// Parses a number of up to 18 digits, with an optional minus sign and decimal point. Returns its value and its length in
/// bytes; `None` for other texts, and for floats that are not the quotient of two exact ones.
#[inline(always)]
pub(in crate::json) fn read(text: &[u8]) -> Option<(Number, usize)> {
    let sign_len = usize::from(text.first() == Some(&b'-'));
    let digits = text.get(sign_len..)?;
    let (whole, whole_len) = digits::read(digits, 0);
    if whole_len > 0 && whole_len <= SAFE_DIGITS && ends_at(digits, whole_len) {
        let value = if sign_len == 0 { whole as i64 } else { -(whole as i64) };
        return Some((Number::Int(value), sign_len + whole_len));
    }
    let fraction = digits.get(whole_len..)?.strip_prefix(b".")?;
    let (number, fraction_len) = digits::read(fraction, whole);
    let len = whole_len + fraction_len;
    if len == 0 || len > SAFE_DIGITS || number > MOST_EXACT || !ends_at(fraction, fraction_len) {
        return None;
    }
    let magnitude = number as f64 / POWERS_OF_TEN.get(fraction_len)?;
    let value = if sign_len == 0 { magnitude } else { -magnitude };
    Some((Number::Float(value), sign_len + len + 1))
}

/// Returns `true` if the number ends at index `len` of `text`.
#[inline]
fn ends_at(text: &[u8], len: usize) -> bool {
    !text.get(len).copied().is_some_and(is_number_byte)
}

/// Powers of ten by exponent, all of them exact floats.
static POWERS_OF_TEN: [f64; SAFE_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];
