//! Ints of few digits, one at a time: where size counts, floats take the general way.
#![forbid(unsafe_code)]

use super::number::{Number, is_number_byte};

/// Decimal digits that fit into 64 bits, sign included, whatever they are.
const SAFE_DIGITS: usize = 18;

/// Reads up to 18 digits, perhaps with a sign: the number and its length; None for what is not that.
pub(super) fn read(text: &[u8]) -> Option<(Number, usize)> {
    let sign_len = usize::from(text.first() == Some(&b'-'));
    let digits = text.get(sign_len..)?;
    let mut magnitude = 0;
    let mut len = 0;
    while len < SAFE_DIGITS
        && let Some(digit @ b'0'..=b'9') = digits.get(len)
    {
        magnitude = magnitude * 10 + i64::from(digit - b'0');
        len += 1;
    }
    let is_int = len > 0 && !digits.get(len).copied().is_some_and(is_number_byte);
    is_int.then(|| (Number::Int(if sign_len == 0 { magnitude } else { -magnitude }), sign_len + len))
}
