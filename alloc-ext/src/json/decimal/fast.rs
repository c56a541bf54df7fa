//! Speed-optimised float conversion: 128-bit arithmetic for most numbers, `core` for the others.
#![forbid(unsafe_code)]

use core::fmt::{self, Write};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::SliceWriter;

use super::Number;

/// Length in bytes from which the digits of a number may offset an exponent that `core` clamps.
/// `core` clamps exponents from 65536 on.
const LONG_TEXT: usize = 60_000;
/// Limit of decimal exponents. Numbers with a larger exponent overflow to infinity, and numbers
/// with an exponent below `-FAR` underflow to zero.
const FAR: i64 = 400;

/// Parses an int or float. Returns `None` if the text is not a number, or if the number is out of
/// range.
///
/// The range is that of C's `strtod` on upstream's platforms: a number is out of range if its float
/// is infinite or a rounded subnormal. Exact subnormals are in range.
///
/// # Errors
/// MemoryError, only for numbers at the limits of the range.
pub(in crate::json) fn read(text: &[u8]) -> Result<Option<Number>> {
    let Ok(text) = core::str::from_utf8(text) else { return Ok(None) };
    match text.parse() {
        Ok(value) => Ok(Some(Number::Int(value))),
        Err(_) => Ok(read_float(text)?.map(Number::Float)),
    }
}

fn read_float(text: &str) -> Result<Option<f64>> {
    let Ok(value) = text.parse::<f64>() else { return Ok(None) };
    let magnitude = value.abs();
    if text.len() < LONG_TEXT && magnitude > f64::MIN_POSITIVE && magnitude.is_finite() {
        return Ok(Some(value));
    }
    let exact = Decimal::of(text.as_bytes()).read_at_limits(magnitude, text.len() >= LONG_TEXT)?;
    Ok(exact.map(|magnitude| magnitude.copysign(value)))
}

/// Threshold (2^53) from which every float is an integer.
const INTEGERS_ONLY: f64 = (1u64 << 53) as f64;

/// Returns a non-negative float as an integer if it is whole and below 2^53; `None` otherwise.
#[inline]
pub(in crate::json) fn small_whole(value: f64) -> Option<i64> {
    let whole = value as i64;
    (value < INTEGERS_ONLY && whole as f64 == value).then_some(whole)
}

/// Returns the first `N` significant digits of a positive finite float as an integer, rounded half
/// to even, and the decimal exponent of the first digit. `N` is at most 17.
#[inline]
pub(in crate::json) fn significant_digits<const N: usize>(value: f64) -> (u64, i32) {
    digits_in_128_bits::<N>(value).unwrap_or_else(|| digits_of_text::<N>(value))
}

/// General case of [`significant_digits`], formatted by `core`.
#[cold]
fn digits_of_text<const N: usize>(value: f64) -> (u64, i32) {
    let mut text = [0; 32];
    let mut writer = SliceWriter::new(&mut text);
    // At most 24 bytes: a digit, a point, 16 digits, `e` and the exponent. The slice has room for
    // them.
    let _ = write!(writer, "{value:.*e}", N - 1);
    let len = writer.len;
    let (mantissa, exponent) = text.get(..len).unwrap_or_default().split_at(len.min(N + 1));
    let exponent =
        core::str::from_utf8(exponent).ok().and_then(|text| text.strip_prefix('e')?.parse().ok());
    let digits = mantissa.iter().filter(|byte| byte.is_ascii_digit());
    (digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')), exponent.unwrap_or(0))
}

/// Fast path of [`significant_digits`] in 128-bit arithmetic, for most floats between 10^-16 and
/// 10^N. Returns `None` for other floats, which need wider products.
#[inline]
fn digits_in_128_bits<const N: usize>(value: f64) -> Option<(u64, i32)> {
    let bits = value.to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    // The logarithm of 2 is 0.30103. This is the decimal exponent or one less, which yields one
    // digit too many, as rounding up to the next power does.
    let first = ((exponent + 52) * 30103).div_euclid(100_000);
    let number = scaled(mantissa, exponent, N as i32 - 1 - first)?;
    if number < 10u64.pow(N as u32) {
        return Some((number, first));
    }
    Some((scaled(mantissa, exponent, N as i32 - 2 - first)?, first + 1))
}

/// Returns `mantissa * 2^exponent * 10^power`, rounded half to even; `None` if an intermediate
/// result overflows or `power` is out of range.
#[inline]
fn scaled(mantissa: u64, exponent: i32, power: i32) -> Option<u64> {
    let product = u128::from(mantissa) * POWERS_OF_FIVE.get(usize::try_from(power).ok()?)?;
    let shift = exponent + power;
    if shift >= 0 {
        return u64::try_from(product.checked_mul(1u128.checked_shl(shift.unsigned_abs())?)?).ok();
    }
    let half = 1u128.checked_shl(shift.unsigned_abs() - 1)?;
    let sum = product.checked_add(half)?;
    let whole = u64::try_from(sum.checked_shr(shift.unsigned_abs())?).ok()?;
    let is_tie = sum & (half << 1).wrapping_sub(1) == 0;
    Some(whole & !u64::from(is_tie))
}

/// Powers of five whose products with any mantissa fit in 128 bits, by exponent.
static POWERS_OF_FIVE: [u128; 33] = {
    let mut powers = [1; 33];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = powers[exponent - 1] * 5;
        exponent += 1;
    }
    powers
};
const _: () = assert!(POWERS_OF_FIVE[32].leading_zeros() >= f64::MANTISSA_DIGITS);

/// An unsigned decimal number `0.DIGITS * 10^scale`, whose first digit is not 0.
struct Decimal<'t> {
    /// Digits without leading zeros, possibly with a decimal point.
    digits: &'t [u8],
    scale: i64,
}

impl<'t> Decimal<'t> {
    /// Splits a valid number into digits and scale.
    fn of(text: &'t [u8]) -> Self {
        let exponent_at =
            text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
        let (mantissa, exponent) = text.split_at(exponent_at);
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
        let whole_len =
            mantissa.get(..point).unwrap_or_default().iter().filter(|byte| is_digit(byte)).count();
        let is_significant = |byte: &u8| matches!(byte, b'1'..=b'9');
        let start = mantissa.iter().position(is_significant).unwrap_or(mantissa.len());
        let (front, digits) = mantissa.split_at(start);
        let zeros = front.iter().filter(|byte| is_digit(byte)).count();
        let scale =
            exponent_of(exponent).saturating_add(whole_len as i64).saturating_sub(zeros as i64);
        Self { digits, scale }
    }

    /// Returns the digits, without the decimal point.
    fn digits(&self) -> impl DoubleEndedIterator<Item = u8> + '_ {
        self.digits.iter().copied().filter(|byte| *byte != b'.')
    }

    /// Returns the number as a float; `None` if it is out of range. `magnitude` is the result of
    /// `core`, which is unusable if the text is too `long` for `core`.
    fn read_at_limits(&self, magnitude: f64, long: bool) -> Result<Option<f64>> {
        if self.digits.is_empty() {
            return Ok(Some(0.0));
        }
        if self.scale > FAR || self.scale < -FAR {
            return Ok(None);
        }
        let magnitude = if long { self.times(1)? } else { magnitude };
        if magnitude.is_infinite() || magnitude == 0.0 {
            return Ok(None);
        }
        let in_range =
            magnitude > f64::MIN_POSITIVE || self.equals(magnitude) || self.rounds_to_normal()?;
        Ok(in_range.then_some(magnitude))
    }

    /// Returns `true` if rounding to 53 bits with an unbounded exponent gives at least the smallest
    /// normal float.
    fn rounds_to_normal(&self) -> Result<bool> {
        Ok(self.times(4)? >= 4.0 * f64::MIN_POSITIVE)
    }

    /// Returns the product with a one-digit factor as a float, rounded once.
    fn times(&self, factor: u8) -> Result<f64> {
        let mut text = Buffer::new();
        let mut exponent = [0; 8];
        // The product may have one digit more.
        text.try_resize(self.digits().count().saturating_add(3), b'0')?;
        let mut carry = 0;
        let places = text.iter_mut().rev();
        for (place, digit) in places.zip(self.digits().rev()) {
            let product = (digit - b'0') * factor + carry;
            *place = b'0' + product % 10;
            carry = product / 10;
        }
        if let Some([_, point, first, ..]) = text.get_mut(..) {
            *point = b'.';
            *first = b'0' + carry;
        }
        let mut writer = SliceWriter::new(&mut exponent);
        // At most four digits, since numbers far out of range were handled before.
        let _ = write!(writer, "e{}", self.scale + 1);
        let len = writer.len;
        text.try_extend_from_slice(exponent.get(..len).unwrap_or_default())?;
        Ok(core::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0))
    }

    /// Returns `true` if a float equals this number exactly.
    fn equals(&self, magnitude: f64) -> bool {
        let mut comparison = Comparison { digits: self.digits(), equal: true, exponent: None };
        // The shortest form that is exact for all floats has up to 767 digits.
        let written = write!(comparison, "{magnitude:.766e}");
        let rest_is_zero = comparison.digits.all(|digit| digit == b'0');
        written.is_ok()
            && comparison.equal
            && rest_is_zero
            && comparison.exponent == Some(1 - self.scale)
    }
}

/// Parses an exponent that starts with `e`; 0 for an empty text.
fn exponent_of(text: &[u8]) -> i64 {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let number = digits
        .fold(0i64, |number, digit| {
            number.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
        })
        // Cannot overflow, and no text is long enough to compensate it.
        .min(i64::MAX / 4);
    if text.get(1) == Some(&b'-') { -number } else { number }
}

/// Writer that compares digits with a float below 1, formatted by `core` as `D.DDDe-EEE`.
struct Comparison<I> {
    digits: I,
    equal: bool,
    /// Exponent after `e-`; `None` before the writer reaches it.
    exponent: Option<i64>,
}

impl<I: Iterator<Item = u8>> Write for Comparison<I> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            match (byte, self.exponent) {
                (b'e', _) => self.exponent = Some(0),
                (b'0'..=b'9', Some(number)) => {
                    self.exponent = Some(number * 10 + i64::from(byte - b'0'))
                }
                (b'0'..=b'9', None) => self.equal &= self.digits.next().unwrap_or(b'0') == byte,
                _ => {}
            }
        }
        Ok(())
    }
}
