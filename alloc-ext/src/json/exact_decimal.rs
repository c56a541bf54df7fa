//! Floats to and from decimal text by exact arithmetic: slower than [`decimal`](super::decimal), whose results it gives, and
//! small, without tables.
#![forbid(unsafe_code)]

use core::cmp::Ordering;

use ferrite_core::error::Result;

use super::natural::{MOST_DIGITS, Natural};

/// Bits of a float's mantissa, the one in front included.
const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS;
const LEAST_EXPONENT: i32 = f64::MIN_EXP - 1;
const MOST_EXPONENT: i32 = f64::MAX_EXP - 1;
/// Beyond ten to this power, and below its inverse, nothing is finite or other than zero.
const FAR: i64 = 400;
/// Exponents are cut off here: far above what the length of a text could make up for.
const FARTHEST: i64 = 1 << 40;

/// Reads a float; None when the text is no number, or its range or precision is beyond a 64-bit float's.
///
/// As with C's `strtod` on upstream's machines, a result is out of range when it is infinite, or so small that it was
/// rounded to less than the full precision; small numbers that need no rounding are fine.
///
/// # Errors
///
/// None: the signature is that of its faster twin.
pub(super) fn parse_float(text: &str) -> Result<Option<f64>> {
    let text = text.as_bytes();
    let (negative, magnitude) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let value = Decimal::read(magnitude).and_then(Decimal::into_float);
    Ok(value.map(|value| if negative { -value } else { value }))
}

/// A decimal number: digits before the point, times ten to a power.
struct Decimal {
    digits: Natural,
    exponent: i64,
    /// The power of ten that is just beyond the number.
    scale: i64,
}

impl Decimal {
    /// Reads digits with or without point and exponent.
    fn read(text: &[u8]) -> Option<Decimal> {
        let mut number = Decimal { digits: Natural::new(0), exponent: 0, scale: 0 };
        let (mut kept, mut lost, mut after_point, mut is_number) = (0, false, false, false);
        let mut bytes = text.iter();
        for byte in bytes.by_ref() {
            match byte {
                b'.' if !after_point => after_point = true,
                b'0'..=b'9' => {
                    let digit = byte - b'0';
                    is_number = true;
                    number.exponent -= i64::from(after_point);
                    if kept == MOST_DIGITS {
                        number.exponent += 1;
                        lost |= digit != 0;
                    } else {
                        number.digits.multiply_add(10, digit.into());
                        kept += usize::from(!number.digits.is_zero());
                    }
                }
                b'e' | b'E' => {
                    number.exponent += read_exponent(bytes.as_slice())?;
                    break;
                }
                _ => return None,
            }
        }
        number.scale = number.exponent + kept as i64;
        if lost {
            number.digits.multiply_add(10, 1);
            number.exponent -= 1;
        }
        is_number.then_some(number)
    }

    fn into_float(self) -> Option<f64> {
        if self.digits.is_zero() {
            return Some(0.0);
        }
        if !(-FAR..=FAR).contains(&self.scale) {
            return None;
        }
        let (mut top, mut bottom) = (self.digits, Natural::new(1));
        let exponent = self.exponent as i32;
        if exponent < 0 { &mut bottom } else { &mut top }.scale(5, exponent.unsigned_abs());
        let shift = top.bits() as i32 - bottom.bits() as i32;
        if shift < 0 { &mut top } else { &mut bottom }.shift_left(shift.unsigned_abs());
        float_of(top, &bottom, exponent + shift)
    }
}

/// The number behind an `e`.
fn read_exponent(text: &[u8]) -> Option<i64> {
    let digits = match text {
        [b'-' | b'+', digits @ ..] => digits,
        _ => text,
    };
    let mut number = 0;
    for byte in digits {
        number = (number * 10 + i64::from(byte.is_ascii_digit().then(|| byte - b'0')?)).min(FARTHEST);
    }
    (!digits.is_empty()).then_some(if text.starts_with(b"-") { -number } else { number })
}

/// The float next to `top / bottom * 2^exponent`, where `top` and `bottom` have the same number of bits.
fn float_of(mut top: Natural, bottom: &Natural, mut exponent: i32) -> Option<f64> {
    if top.compare(bottom).is_lt() {
        top.shift_left(1);
        exponent -= 1;
    }
    let mut mantissa = 0u64;
    for _ in 0..MANTISSA_BITS {
        mantissa = mantissa << 1 | u64::from(top.divide(bottom));
        top.shift_left(1);
    }
    let is_exact = top.is_zero();
    mantissa += match top.compare(bottom) {
        Ordering::Less => 0,
        Ordering::Equal => mantissa & 1,
        Ordering::Greater => 1,
    };
    if mantissa >> MANTISSA_BITS != 0 {
        mantissa >>= 1;
        exponent += 1;
    }
    let missing = LEAST_EXPONENT.saturating_sub(exponent);
    if exponent > MOST_EXPONENT {
        return None;
    }
    if missing <= 0 {
        // The bit in front of the mantissa counts one for the exponent.
        let biased = (exponent - LEAST_EXPONENT) as u64;
        return Some(f64::from_bits((biased << (MANTISSA_BITS - 1)) + mantissa));
    }
    let is_held = is_exact && mantissa.trailing_zeros() >= missing.unsigned_abs();
    is_held.then(|| f64::from_bits(mantissa >> missing))
}

/// The first `N` significant digits of a positive, finite number, rounded half to even, and the power of ten that the
/// first one counts.
pub(super) fn significant_digits<const N: usize>(value: f64) -> ([u8; N], i32) {
    let (mantissa, exponent) = parts(value);
    let (mut top, mut bottom) = (Natural::new(mantissa), Natural::new(1));
    if exponent < 0 { &mut bottom } else { &mut top }.shift_left(exponent.unsigned_abs());
    let mut first = -1;
    while top.compare(&bottom).is_ge() {
        bottom.multiply_add(10, 0);
        first += 1;
    }
    top.multiply_add(10, 0);
    while top.compare(&bottom).is_lt() {
        top.multiply_add(10, 0);
        first -= 1;
    }
    let mut digits = [0; N];
    for digit in &mut digits {
        *digit = b'0' + top.divide(&bottom);
        top.multiply_add(10, 0);
    }
    bottom.multiply_add(5, 0);
    let is_odd = digits.last().is_some_and(|digit| digit % 2 == 1);
    let rounds_up = top.compare(&bottom).then(if is_odd { Ordering::Greater } else { Ordering::Less });
    if rounds_up.is_gt() && !increment(&mut digits) {
        digits = core::array::from_fn(|at| if at == 0 { b'1' } else { b'0' });
        first += 1;
    }
    (digits, first)
}

/// A positive number as a whole number times a power of two.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << (MANTISSA_BITS - 1)) - 1);
    let least = LEAST_EXPONENT - (MANTISSA_BITS as i32 - 1);
    match (bits >> (MANTISSA_BITS - 1)) as i32 {
        0 => (fraction, least),
        biased => (fraction | 1 << (MANTISSA_BITS - 1), least + biased - 1),
    }
}

/// Adds one to the last digit; false when all of them are nine.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit != b'9' {
            *digit += 1;
            return true;
        }
        *digit = b'0';
    }
    false
}
