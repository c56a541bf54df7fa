//! Decimal digits, eight at a time.
#![forbid(unsafe_code)]

use crate::words;

/// One in every byte of a word.
const ONES: u64 = u64::MAX / 255;

/// The powers of ten by which up to eight digits shift a number.
static SHIFTS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Appends the digits at the start of `text` to a number in decimal: the new number, modulo 2^64, and how many they are.
#[inline]
pub(super) fn read(text: &[u8], mut number: u64) -> (u64, usize) {
    let mut len = 0;
    loop {
        let (value, count) = leading(word_at(text, len));
        number = number.wrapping_mul(SHIFTS[count]).wrapping_add(value);
        len += count;
        if count < 8 {
            return (number, len);
        }
    }
}

/// The bytes from `at` on, as the low ones of a word that ends in zeros.
#[inline]
fn word_at(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => words::tail(rest, rest.len()),
    }
}

/// The number that the digits in front of the first other byte make, and how many they are, up to eight.
#[inline]
fn leading(word: u64) -> (u64, usize) {
    let values = word ^ (ONES * b'0' as u64);
    // Marks values from ten on; what a byte carries over to the next one only matters behind the first mark.
    let marks = (values.wrapping_add(ONES * 0x76) | values) & (ONES << 7);
    let count = (marks.trailing_zeros() / 8) as usize;
    // With zeros in front of the digits instead of other bytes behind them.
    let digits = values.checked_shl(64 - 8 * count as u32).unwrap_or(0);
    // The first digit is in the lowest byte: neighbours become pairs, those become fours and eight.
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let eight = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff;
    (eight, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_end_at_the_first_other_byte() {
        let digits = b"9081726354091827364";
        for len in 0..digits.len() {
            for other in [b'/', b':', b'.', 0, 0x80, 0xff, b'e'] {
                let mut text = [b'7'; 40];
                text[..len].copy_from_slice(&digits[..len]);
                text[len] = other;
                let expected =
                    digits[..len].iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
                assert_eq!(read(&text, 0), (expected, len), "{len} {other}");
                assert_eq!(read(&text[..len], 0), (expected, len), "{len} to the end");
            }
        }
        assert_eq!(read(b"25x", 1), (125, 2));
    }
}
