//! Numbers to and from decimal text by exact arithmetic: slower than [`decimal`](super::decimal), whose results it gives, and
//! small, without tables.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::text::Writer;

use super::natural::{MOST_DIGITS, Natural};
use super::number::Number;

/// Bits of a float's mantissa, the one in front included.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS;
/// The power of two that the last bit of the smallest numbers counts.
const LEAST_EXPONENT: i32 = f64::MIN_EXP - MANTISSA_BITS as i32;
/// The exponent of the largest floats, counted from the least one.
const MOST_EXPONENT: i32 = f64::MAX_EXP - f64::MIN_EXP;
/// Beyond ten to this power, and below its inverse, nothing is finite or other than zero.
const FAR: i32 = 400;
/// Exponents are cut off here: far above what the length of a text could make up for.
const FARTHEST: i32 = 1 << 27;

/// Reads a number; None when the text is none, or its range or precision is beyond a 64-bit float's.
///
/// As with C's `strtod` on upstream's machines, a result is out of range when it is infinite, or so small that it was
/// rounded to less than the full precision; small numbers that need no rounding are fine.
///
/// # Errors
///
/// None: the signature is that of its faster twin.
pub(super) fn read(text: &[u8]) -> Result<Option<Number>> {
    Ok(match text {
        [b'-', magnitude @ ..] => read_magnitude(magnitude, true),
        [b'+', magnitude @ ..] => read_magnitude(magnitude, false),
        _ => read_magnitude(text, false),
    })
}

/// Reads digits with or without point and exponent.
fn read_magnitude(text: &[u8], negative: bool) -> Option<Number> {
    let mut digits = Natural::new(0);
    // The power of ten that the last of the digits counts; how many there are without zeros in front.
    let (mut exponent, mut kept) = (0, 0);
    let (mut is_number, mut is_int, mut after_point, mut lost) = (false, true, 0, false);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'.' if after_point == 0 => (is_int, after_point) = (false, 1),
            b'0'..=b'9' => {
                let digit = u32::from(byte - b'0');
                is_number = true;
                exponent -= after_point;
                if kept == MOST_DIGITS {
                    exponent += 1;
                    lost |= digit != 0;
                } else {
                    digits.multiply_add(10, digit);
                    kept += i32::from(digits.len() != 0);
                }
            }
            b'e' | b'E' => {
                exponent += read_exponent(bytes.as_slice())?;
                is_int = false;
                break;
            }
            _ => return None,
        }
    }
    if !is_number {
        return None;
    }
    if is_int
        && let Some(value) = digits.value().filter(|value| *value <= i64::MAX as u64 + u64::from(negative))
    {
        let value = value as i64;
        return Some(Number::Int(if negative { value.wrapping_neg() } else { value }));
    }
    let magnitude = match kept {
        0 => 0,
        _ if (-FAR..=FAR).contains(&(exponent + kept)) => bits_of(digits, exponent, lost)?,
        _ => return None,
    };
    Some(Number::Float(f64::from_bits(magnitude | u64::from(negative) << 63)))
}

/// The number behind an `e`.
fn read_exponent(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        _ => (1, text),
    };
    let mut number = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        number = (number * 10 + i32::from((digit < 10).then_some(digit)?)).min(FARTHEST);
    }
    (!digits.is_empty()).then_some(sign * number)
}

/// The bits of the float next to `number * 10^exponent`, where `number` is not 0, or a little more, but less than its next
/// digit, if `inexact`.
fn bits_of(mut number: Natural, mut exponent: i32, mut inexact: bool) -> Option<u64> {
    let fives = exponent.unsigned_abs();
    if exponent >= 0 {
        number.scale(5, fives);
    } else {
        // A quotient of 64 bits or more; five has less than 7/3 bits.
        while number.len() * (u16::BITS as usize) < fives as usize * 7 / 3 + 80 {
            number.shift_word();
            exponent -= u16::BITS as i32;
        }
        for _ in 0..fives {
            inexact |= number.divide(5) != 0;
        }
    }
    // Half of the last bit, once there are no more than a mantissa has.
    let mut half = 0;
    let mantissa = loop {
        match number.value() {
            Some(value) if value >> (MANTISSA_BITS - 1) == 1 => break value,
            Some(value) if value >> MANTISSA_BITS == 0 => {
                number.multiply_add(2, 0);
                exponent -= 1;
            }
            _ => {
                // By words while there are more than enough of them.
                let shift = if number.len() > 5 { u16::BITS } else { 1 };
                inexact |= half != 0;
                half = number.divide(1 << shift);
                exponent += shift as i32;
            }
        }
    };
    let is_up = half != 0 && (inexact || mantissa & 1 != 0);
    exponent -= LEAST_EXPONENT;
    if exponent > MOST_EXPONENT {
        return None;
    }
    // The bit in front of the mantissa counts one for the exponent, and so does a carry.
    let bits = ((exponent as i64) << (MANTISSA_BITS - 1)) + mantissa as i64 + i64::from(is_up);
    if bits >= 1 << (MANTISSA_BITS - 1) {
        return (bits < f64::INFINITY.to_bits() as i64).then_some(bits as u64);
    }
    for _ in exponent..0 {
        half |= number.divide(2);
    }
    if inexact || half != 0 { None } else { number.value() }
}

/// The first `N` significant digits of a finite number that is not negative, rounded half to even, and the power of ten that the
/// first one counts. At most 18 digits.
pub(super) fn significant_digits<const N: usize>(value: f64) -> ([u8; N], i32) {
    let limit = 10u64.pow(N as u32);
    let (mantissa, shift) = parts(value);
    let mut number = Natural::new(mantissa);
    // Without the power of two, five times as much counts a tenth.
    number.scale(if shift < 0 { 5 } else { 2 }, shift.unsigned_abs());
    let (mut exponent, mut rest, mut is_more) = (if mantissa == 0 { 0 } else { shift.min(0) }, 0, false);
    let mut whole = loop {
        match number.value() {
            Some(value) if value < limit => break value,
            _ => {
                is_more |= rest != 0;
                rest = number.divide(10);
                exponent += 1;
            }
        }
    };
    if rest > 5 || rest == 5 && (is_more || whole % 2 != 0) {
        whole += 1;
    }
    let mut text = [b'0'; 20];
    let mut writer = Writer::new(&mut text);
    writer.put_digits(whole);
    // A carry through all digits gives one more.
    let first = exponent + writer.wanted as i32 - 1;
    (text.first_chunk().copied().unwrap_or([b'0'; N]), first)
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
