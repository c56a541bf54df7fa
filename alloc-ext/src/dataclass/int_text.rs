//! Integers of any size in decimal.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

/// The largest power of ten in a word, and its exponent.
const CHUNK: u64 = 10_000_000_000_000_000_000;
const CHUNK_DIGITS: usize = 19;

/// Appends an integer that is given as words in two's complement, least significant first. The time grows with the
/// square of their number.
///
/// # Errors
///
/// MemoryError.
///
/// # Upstream
///
/// `ToStringFallback` in `big_int.h`.
pub(super) fn write_words(out: &mut Buffer<u8>, words: &[i64]) -> Result<()> {
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

fn magnitude_of(words: &[i64], is_negative: bool) -> Result<Buffer<u64>> {
    let mut magnitude = Buffer::try_with_capacity(words.len())?;
    let mut carry = is_negative;
    for word in words {
        let flipped = if is_negative { !*word as u64 } else { *word as u64 };
        let (sum, overflows) = flipped.overflowing_add(u64::from(carry));
        carry = overflows;
        magnitude.try_push(sum)?;
    }
    Ok(magnitude)
}

/// Divides by [`CHUNK`] and gives the remainder.
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

/// Appends digits, the last one first, at least `least` of them.
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
        }
        Ok(())
    }
}
