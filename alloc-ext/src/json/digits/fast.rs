//! Speed-optimised conversion of decimal digits, eight at a time.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::words;

use super::write_sign;

/// A word with the value 1 in every byte.
const ONES: u64 = u64::MAX / 255;

/// Powers of ten by exponent, up to 16.
static SHIFTS: [u64; 17] = {
    let mut powers = [1; 17];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1] * 10;
        exponent += 1;
    }
    powers
};

/// Returns ten to the power of `digits`, at most 16.
#[inline]
pub(in crate::json) fn power_of_ten(digits: usize) -> u64 {
    SHIFTS[digits.min(16)]
}

/// Parses the leading digits of `text` and appends them to the decimal number `number`. Returns the
/// new number modulo 2^64, and the number of digits.
#[inline]
pub(in crate::json) fn read(text: &[u8], mut number: u64) -> (u64, usize) {
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

/// Returns the eight bytes of `text` from index `at` as a little-endian word, padded with zeros.
#[inline]
fn word_at(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => words::pack_last(rest, rest.len()),
    }
}

/// Returns the value and the number of the leading digits in a word, at most eight.
#[inline]
fn leading(word: u64) -> (u64, usize) {
    let values = word ^ (ONES * b'0' as u64);
    // Marks bytes with values from ten on. A carry can only disturb bytes after the first mark.
    let marks = (values.wrapping_add(ONES * 0x76) | values) & (ONES << 7);
    let count = (marks.trailing_zeros() / 8) as usize;
    // Moves the digits to the top bytes, with zeros in front of them.
    let digits = values.checked_shl(64 - 8 * count as u32).unwrap_or(0);
    // The first digit is in the lowest byte. Pairs of digits are combined to numbers of two, four
    // and eight digits.
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let eight = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff;
    (eight, count)
}

/// Appends an int in decimal.
///
/// # Errors
/// MemoryError.
pub(crate) fn write_int(out: &mut Buffer<u8>, value: i64) -> Result<()> {
    write_sign(out, value < 0)?;
    write(out, value.unsigned_abs())
}

/// Appends an unsigned integer in decimal.
///
/// # Errors
/// MemoryError.
#[inline]
pub(in crate::json) fn write(out: &mut Buffer<u8>, number: u64) -> Result<()> {
    // Up to 20 digits, and leading zeros.
    out.try_reserve(24)?;
    let (top, rest) = (number / EIGHT_DIGITS, number % EIGHT_DIGITS);
    if top == 0 {
        return write_without_zeros(out, rest);
    }
    if top < EIGHT_DIGITS {
        write_without_zeros(out, top)?;
    } else {
        write_without_zeros(out, top / EIGHT_DIGITS)?;
        out.try_extend_from_slice(&eight(top % EIGHT_DIGITS))?;
    }
    Ok(out.try_extend_from_slice(&eight(rest))?)
}

/// Ten to the eighth power.
const EIGHT_DIGITS: u64 = 100_000_000;

/// Appends an integer of up to eight digits.
#[inline]
fn write_without_zeros(out: &mut Buffer<u8>, number: u64) -> Result<()> {
    // The digit count determines the position of the next output, and is available long before the
    // digits.
    let count = count(number);
    let end = out.len() + count;
    let digits = u64::from_le_bytes(eight(number)) >> (64 - 8 * count);
    out.try_extend_from_slice(&digits.to_le_bytes())?;
    out.truncate(end);
    Ok(())
}

/// Returns the number of decimal digits of an integer below 10^16; 1 for zero.
#[inline]
fn count(number: u64) -> usize {
    // The logarithm of 2 is 1233 / 4096. This is the number of digits or one less.
    let least = (((number | 1).ilog2() as usize + 1) * 1233) >> 12;
    (least + usize::from(number >= power_of_ten(least))).max(1)
}

/// Appends a fraction of `len` digits, at most 16, with leading zeros and without trailing zeros.
///
/// # Errors
/// MemoryError.
#[inline]
pub(in crate::json) fn write_fraction(
    out: &mut Buffer<u8>,
    fraction: u64,
    len: usize,
) -> Result<()> {
    let sixteen = fraction * power_of_ten(16usize.saturating_sub(len));
    let (first, second) = (eight(sixteen / EIGHT_DIGITS), eight(sixteen % EIGHT_DIGITS));
    let start = out.len();
    out.try_extend_from_slice(&first)?;
    out.try_extend_from_slice(&second)?;
    out.truncate(start + len);
    // A predictable branch does not wait for the digits, as counting zeros would.
    if fraction.is_multiple_of(10) {
        out.truncate(start + len_without_zeros(first, second));
    }
    Ok(())
}

/// Returns the length of 16 digits, given in two halves, without trailing zeros.
#[inline(never)]
fn len_without_zeros(first: [u8; 8], second: [u8; 8]) -> usize {
    let zeros =
        |digits| (u64::from_le_bytes(digits) ^ (ONES * b'0' as u64)).leading_zeros() as usize / 8;
    match zeros(second) {
        8 => 8 - zeros(first),
        zeros => 16 - zeros,
    }
}

/// Returns the eight decimal digits of an integer below 10^8, with leading zeros.
#[inline]
fn eight(number: u64) -> [u8; 8] {
    // Splits the number into groups of four, two and one digits in parallel, the first one lowest.
    // Multiplying by these constants and shifting divides by 100 and by 10, exactly for all numbers
    // in range.
    let fours = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    let digits = tens | (pairs - tens * 10) << 8;
    (digits + ONES * b'0' as u64).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_all_their_digits() -> Result<()> {
        let step = if cfg!(miri) { 4_999 } else { 7 };
        for number in (0..10_000).step_by(if cfg!(miri) { 997 } else { 1 }) {
            let text = std::format!("{number:04}{:04}", 9_999 - number);
            assert_eq!(eight(number * 10_000 + 9_999 - number), text.as_bytes());
        }
        let powers = (0..20).flat_map(|exponent| {
            let power = 10u64.pow(exponent);
            [power - 1, power, power + 1, power.saturating_mul(9)]
        });
        for number in powers.chain((0..20_000).step_by(step)).chain([u64::MAX, u64::MAX - 1]) {
            let mut out = Buffer::new();
            write(&mut out, number)?;
            assert_eq!(core::str::from_utf8(&out), Ok(std::format!("{number}").as_str()));
        }
        Ok(())
    }

    #[test]
    fn fractions_have_no_zeros_at_the_end() -> Result<()> {
        for (fraction, len, text) in [
            (5, 1, "5"),
            (50, 2, "5"),
            (50, 16, "000000000000005"),
            (1_2345_6789, 16, "0000000123456789"),
            (1_2345_0000, 16, "000000012345"),
            (1_2345_6700_0000, 16, "00012345670"),
            (9_999_999_999_999_999, 16, "9999999999999999"),
            (0, 3, ""),
        ] {
            let mut out = Buffer::new();
            write_fraction(&mut out, fraction, len)?;
            let text = text.trim_end_matches('0');
            assert_eq!(core::str::from_utf8(&out), Ok(text));
        }
        Ok(())
    }

    #[test]
    fn digits_end_at_the_first_other_byte() {
        let digits = b"9081726354091827364";
        for len in 0..digits.len() {
            for other in [b'/', b':', b'.', 0, 0x80, 0xff, b'e'] {
                let mut text = [b'7'; 40];
                text[..len].copy_from_slice(&digits[..len]);
                text[len] = other;
                let expected = digits[..len]
                    .iter()
                    .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
                assert_eq!(read(&text, 0), (expected, len), "{len} {other}");
                assert_eq!(read(&text[..len], 0), (expected, len), "{len} to the end");
            }
        }
        assert_eq!(read(b"25x", 1), (125, 2));
    }
}
