//! Numbers to and from decimal text by exact arithmetic: slower than [`decimal`](super::decimal), whose results it gives, and
//! small, without tables.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;

use super::long_decimal::LongDecimal;
use super::number::Number;

/// Bits of a float's mantissa, the one in front included.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS;
/// Digits of all numbers with so many bits and the first one set.
const MANTISSA_DIGITS: usize = 16;
const _: () = assert!(1 << (MANTISSA_BITS - 1) > 10u64.pow(15) && 1 << MANTISSA_BITS < 10u64.pow(16));
/// The power of two that the last bit of the smallest numbers counts.
const LEAST_EXPONENT: i32 = f64::MIN_EXP - MANTISSA_BITS as i32;
/// The exponent of the largest floats, counted from the least one.
const MOST_EXPONENT: i32 = f64::MAX_EXP - f64::MIN_EXP;
/// Beyond ten to this power, and below its inverse, nothing is finite or other than zero.
const FAR: u32 = 400;
/// Exponents are cut off here: far above what the length of a text could make up for.
const FARTHEST: i32 = 1 << 27;
/// All numbers with so many digits have 64 bits.
const INT_DIGITS: i32 = 19;

/// Reads a number; None when the text is none, or its range or precision is beyond a 64-bit float's.
///
/// As with C's `strtod` on upstream's machines, a result is out of range when it is infinite, or so small that it was
/// rounded to less than the full precision; small numbers that need no rounding are fine.
///
/// # Errors
/// None: the signature is that of its faster twin.
pub(super) fn read(text: &[u8]) -> Result<Option<Number>> {
    let (negative, magnitude) = without_sign(text);
    Ok(read_magnitude(magnitude, negative))
}

/// What follows a sign, if there is one, and whether that is a minus.
fn without_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [sign @ (b'-' | b'+'), rest @ ..] => (*sign == b'-', rest),
        _ => (false, text),
    }
}

/// Reads digits with or without point and exponent.
fn read_magnitude(text: &[u8], negative: bool) -> Option<Number> {
    let mut number = LongDecimal::new();
    let (mut is_number, mut is_int, mut after_point) = (false, true, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'.' if !after_point => (is_int, after_point) = (false, true),
            b'0'..=b'9' => {
                is_number = true;
                // Zeros in front of all other digits only count behind the point.
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
        // What has 64 bits without a sign has the wrong one.
        if value == 0 || (value < 0) == negative {
            return Some(Number::Int(value));
        }
    }
    let magnitude = if number.is_zero() { 0 } else { bits_of(&mut number)? };
    Some(Number::Float(f64::from_bits(magnitude | u64::from(negative) << 63)))
}

/// The number behind an `e`.
fn read_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = without_sign(text);
    let mut number = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        number = (number * 10 + i32::from((digit < 10).then_some(digit)?)).min(FARTHEST);
    }
    (!digits.is_empty()).then_some(if negative { -number } else { number })
}

/// The bits of the float next to a number that is not 0.
fn bits_of(number: &mut LongDecimal) -> Option<u64> {
    if number.point.unsigned_abs() > FAR {
        return None;
    }
    // The power of two that the mantissa counts, from the least one on.
    let mut exponent = -LEAST_EXPONENT;
    let mantissa = loop {
        let whole = number.whole(MANTISSA_DIGITS);
        // One step up or down where this is less or more than a mantissa.
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
    // The bit in front of the mantissa counts one for the exponent, and so does a carry.
    let is_up = number.rounds_up(MANTISSA_DIGITS);
    let bits = ((exponent as i64) << (MANTISSA_BITS - 1)) + mantissa as i64 + i64::from(is_up);
    if bits >= 1 << (MANTISSA_BITS - 1) {
        return (bits < f64::INFINITY.to_bits() as i64).then_some(bits as u64);
    }
    number.scale(exponent);
    let digits = number.point.max(0) as usize;
    number.is_whole(digits).then(|| number.whole(digits))
}

/// Makes `number`, which is new, of the first `N` significant digits of a finite number that is not negative, rounded half
/// to even, without zeros at the end. The point is behind the first digit of zero, as if it had one.
pub(super) fn significant_digits<const N: usize>(value: f64, number: &mut LongDecimal) {
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

/// A positive number as a whole number times a power of two.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << (MANTISSA_BITS - 1)) - 1);
    match (bits >> (MANTISSA_BITS - 1)) as i32 {
        0 => (fraction, LEAST_EXPONENT),
        biased => (fraction | 1 << (MANTISSA_BITS - 1), LEAST_EXPONENT + biased - 1),
    }
}
