//! Conversion of arbitrary-precision integers to and from decimal.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;
use ferrite_core::value::big_int;

/// Largest power of ten that fits in a 64-bit word.
const CHUNK: u64 = 10_000_000_000_000_000_000;
/// Number of zeros of [`CHUNK`], which is the number of decimal digits of a chunk.
const CHUNK_DIGITS: usize = 19;

/// Appends an integer in decimal, given as two's complement words in little-endian order. Takes
/// quadratic time in the number of words.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `ToStringFallback` in `big_int.h`.
pub(crate) fn write_words(out: &mut Buffer<u8>, words: &[i64]) -> Result<()> {
    let is_negative = words.last().is_some_and(|word| *word < 0);
    let mut magnitude = magnitude_of(words, is_negative)?;
    if is_negative {
        out.try_push(b'-')?;
    }
    let start = out.len();
    loop {
        let chunk = divide(&mut magnitude);
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        let is_last = magnitude.is_empty();
        write_reversed(out, chunk, if is_last { 1 } else { CHUNK_DIGITS })?;
        if is_last {
            break;
        }
    }
    out.get_mut(start..).unwrap_or_default().reverse();
    Ok(())
}

/// Parses a decimal integer with an optional sign; `None` if `text` is anything else. Takes
/// quadratic time in the number of digits.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `operator>>` in `big_int.h`, with the check for trailing characters of the `__data_from_json__`
/// hook.
pub(crate) fn parse(text: &[u8]) -> Result<Option<Any>> {
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Ok(None);
    }
    let mut magnitude = Buffer::new();
    for chunk in digits.chunks(CHUNK_DIGITS) {
        let number = chunk.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
        multiply_add(&mut magnitude, 10u64.pow(chunk.len() as u32), number)?;
    }
    // Room for the sign bit.
    magnitude.try_push(0)?;
    if is_negative {
        negate(&mut magnitude);
    }
    let mut bytes = Buffer::try_with_capacity(magnitude.len().saturating_mul(size_of::<u64>()))?;
    magnitude.iter().try_for_each(|word| bytes.try_extend_from_slice(&word.to_ne_bytes()))?;
    big_int::from_native_bytes(&bytes).map(Some)
}

/// Multiplies a magnitude by `factor` and adds `number`.
fn multiply_add(magnitude: &mut Buffer<u64>, factor: u64, number: u64) -> Result<()> {
    let mut carry = number;
    for word in magnitude.iter_mut() {
        let sum = u128::from(*word) * u128::from(factor) + u128::from(carry);
        *word = sum as u64;
        carry = (sum >> 64) as u64;
    }
    if carry != 0 { Ok(magnitude.try_push(carry)?) } else { Ok(()) }
}

/// Negates an integer in two's complement.
fn negate(words: &mut [u64]) {
    let mut carry = true;
    for word in words {
        (*word, carry) = (!*word).overflowing_add(u64::from(carry));
    }
}

fn magnitude_of(words: &[i64], is_negative: bool) -> Result<Buffer<u64>> {
    let mut magnitude = Buffer::try_with_capacity(words.len())?;
    for word in words {
        magnitude.try_push(*word as u64)?;
    }
    if is_negative {
        negate(&mut magnitude);
    }
    Ok(magnitude)
}

/// Divides a magnitude by [`CHUNK`]. Returns the remainder.
fn divide(magnitude: &mut [u64]) -> u64 {
    let mut remainder = 0u64;
    for word in magnitude.iter_mut().rev() {
        let dividend = u128::from(remainder) << 64 | u128::from(*word);
        // Below 2^64, since the remainder is below the divisor.
        *word = (dividend / u128::from(CHUNK)) as u64;
        remainder = (dividend % u128::from(CHUNK)) as u64;
    }
    remainder
}

/// Appends decimal digits in reverse order, padded with zeros to at least `least` digits.
fn write_reversed(out: &mut Buffer<u8>, mut number: u64, least: usize) -> Result<()> {
    let mut written = 0;
    while number > 0 || written < least {
        out.try_push(b'0' + (number % 10) as u8)?;
        number /= 10;
        written += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::value::big_int::BigInt;

    #[test]
    fn words_become_decimal_digits() -> Result<()> {
        for (words, text) in [
            (&[0][..], "0"),
            (&[-7, -1], "-7"),
            (&[i64::MIN], "-9223372036854775808"),
            (&[0, 1], "18446744073709551616"),
            (&[0, -1], "-18446744073709551616"),
            (&[0, 0, 1], "340282366920938463463374607431768211456"),
            (&[CHUNK as i64, 0], "10000000000000000000"),
        ] {
            let mut out = Buffer::new();
            write_words(&mut out, words)?;
            assert_eq!(core::str::from_utf8(&out), Ok(text));
            let read = parse(text.as_bytes())?.expect("digits");
            match read.try_get::<BigInt>()? {
                Some(read) => assert_eq!(read.words(), words),
                None => assert_eq!(read.get::<i64>()?, words[0]),
            }
        }
        Ok(())
    }

    #[test]
    fn only_digits_behind_a_sign_are_integers() -> Result<()> {
        for (text, number) in
            [("+5", 5), ("-0", 0), ("00012", 12), ("-9223372036854775808", i64::MIN)]
        {
            assert_eq!(parse(text.as_bytes())?.expect(text).get::<i64>()?, number);
        }
        for text in ["", "-", "+", "--5", "+-5", "5 ", " 5", "0x10", "1_000", "1e5"] {
            assert!(parse(text.as_bytes())?.is_none(), "{text}");
        }
        Ok(())
    }
}
