//! Size-optimised float conversion by exact decimal arithmetic, without tables.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;

use super::Number;
use super::long_decimal::LongDecimal;

/// Number of bits in a float's mantissa, including the implicit leading one.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS;
/// Number of decimal digits of every integer with exactly [`MANTISSA_BITS`] bits.
const MANTISSA_DIGITS: usize = 16;
const _: () =
    assert!(1 << (MANTISSA_BITS - 1) > 10u64.pow(15) && 1 << MANTISSA_BITS < 10u64.pow(16));
/// Exponent of the least significant bit of subnormals.
const LEAST_EXPONENT: i32 = f64::MIN_EXP - MANTISSA_BITS as i32;
/// Exponent of the largest floats, relative to [`LEAST_EXPONENT`].
const MOST_EXPONENT: i32 = f64::MAX_EXP - f64::MIN_EXP;
/// Limit of decimal exponents. Numbers with a larger exponent overflow to infinity, and numbers
/// with an exponent below the negated limit underflow to zero.
const FAR: u32 = 400;
/// Value that larger exponents are clamped to. Only a text of 128 MiB has enough digits to offset
/// it.
const FARTHEST: i32 = 1 << 27;
/// Number of decimal digits that always fit in 64 bits.
const INT_DIGITS: i32 = 19;

/// Parses an int or float. Returns `None` if the text is not a number, or if the number is out of
/// range.
///
/// The range is that of C's `strtod` on upstream's platforms: a number is out of range if its float
/// is infinite or a rounded subnormal. Exact subnormals are in range.
///
/// # Errors
/// Never fails; the signature is that of the speed-optimised version.
pub(in crate::json) fn read(text: &[u8]) -> Result<Option<Number>> {
    let (negative, magnitude) = without_sign(text);
    Ok(read_magnitude(magnitude, negative))
}

/// Splits off an optional sign. Returns whether it is a minus, and the rest of the text.
fn without_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [sign @ (b'-' | b'+'), rest @ ..] => (*sign == b'-', rest),
        _ => (false, text),
    }
}

/// Parses an unsigned number: digits with an optional decimal point and exponent.
fn read_magnitude(text: &[u8], negative: bool) -> Option<Number> {
    let mut number = LongDecimal::new();
    let (mut is_number, mut is_int, mut after_point) = (false, true, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'.' if !after_point => (is_int, after_point) = (false, true),
            b'0'..=b'9' => {
                is_number = true;
                // Leading zeros count only after the point.
                let counts = *byte != b'0' || !number.is_zero();
                if counts {
                    number.push(byte - b'0');
                }
                number.point += i32::from(counts) - i32::from(after_point);
            }
            b'e' | b'E' => {
                number.point += read_exponent(bytes.as_slice())?;
                is_int = false;
                break;
            }
            _ => return None,
        }
    }
    if !is_number {
        return None;
    }
    if is_int && number.point <= INT_DIGITS {
        let value = number.whole(number.point as usize) as i64;
        let value = if negative { value.wrapping_neg() } else { value };
        // A value that needs all 64 bits has the wrong sign here.
        if value == 0 || (value < 0) == negative {
            return Some(Number::Int(value));
        }
    }
    let magnitude = if number.is_zero() { 0 } else { bits_of(&mut number)? };
    Some(Number::Float(f64::from_bits(magnitude | u64::from(negative) << 63)))
}

/// Parses the digits of an exponent with an optional sign. Returns `None` for anything else.
fn read_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = without_sign(text);
    let mut number = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        number = (number * 10 + i32::from((digit < 10).then_some(digit)?)).min(FARTHEST);
    }
    (!digits.is_empty()).then_some(if negative { -number } else { number })
}

/// Returns the bits of the float nearest to a nonzero number; `None` if it is out of range.
fn bits_of(number: &mut LongDecimal) -> Option<u64> {
    if number.point.unsigned_abs() > FAR {
        return None;
    }
    // Exponent of the mantissa, relative to the least one.
    let mut exponent = -LEAST_EXPONENT;
    let mantissa = loop {
        let whole = number.whole(MANTISSA_DIGITS);
        // Scale up or down by two while the integer part has fewer or more bits than a mantissa.
        let place = (number.point, whole >> (MANTISSA_BITS - 1));
        let step = (MANTISSA_DIGITS as i32, 1).cmp(&place) as i32;
        if step == 0 {
            break whole;
        }
        number.scale(step);
        exponent -= step;
    };
    if exponent > MOST_EXPONENT {
        return None;
    }
    // The implicit bit adds one to the exponent, and so does a carry.
    let is_up = number.rounds_up(MANTISSA_DIGITS);
    let bits = ((exponent as i64) << (MANTISSA_BITS - 1)) + mantissa as i64 + i64::from(is_up);
    if bits >= 1 << (MANTISSA_BITS - 1) {
        return (bits < f64::INFINITY.to_bits() as i64).then_some(bits as u64);
    }
    number.scale(exponent);
    let digits = number.point.max(0) as usize;
    number.is_whole(digits).then(|| number.whole(digits))
}

/// Stores the first `N` significant digits of a finite, non-negative float in `number`, which must
/// be new. Rounds half to even, and removes trailing zeros. Zero has no digits, and the point of a
/// one-digit number.
pub(in crate::json) fn significant_digits<const N: usize>(value: f64, number: &mut LongDecimal) {
    exact(value, number);
    number.round(N);
}

fn exact(value: f64, number: &mut LongDecimal) {
    let (mut mantissa, exponent) = parts(value);
    if mantissa == 0 {
        number.point = 1;
        return;
    }
    for _ in 0..u64::BITS {
        number.multiply_add(2, (mantissa >> (u64::BITS - 1)) as u8);
        mantissa <<= 1;
    }
    number.scale(exponent);
}

/// Splits a non-negative float into an integer and an exponent of two.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << (MANTISSA_BITS - 1)) - 1);
    match (bits >> (MANTISSA_BITS - 1)) as i32 {
        0 => (fraction, LEAST_EXPONENT),
        biased => (fraction | 1 << (MANTISSA_BITS - 1), LEAST_EXPONENT + biased - 1),
    }
}
