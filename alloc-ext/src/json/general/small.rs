//! Size-optimised `%g`, digit by digit.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::DIGITS;
use crate::json::decimal;
use crate::json::decimal::LongDecimal;
use crate::json::digits::write_int;

/// Bits of the float 2^53. Like upstream, whole numbers from there on are written without `.0`.
const WHOLE: u64 = ((1u64 << f64::MANTISSA_DIGITS) as f64).to_bits();

/// Appends a finite, non-negative float in JSON format. Whole numbers below 2^53 end in `.0`.
///
/// # Errors
/// MemoryError.
pub(in crate::json) fn write_finite(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    let mut number = LongDecimal::new();
    decimal::significant_digits::<DIGITS>(value, &mut number);
    write(out, &number, DIGITS)?;
    if number.digits().len() as i32 <= number.point && value.to_bits() < WHOLE {
        out.try_extend_from_slice(b".0")?;
    }
    Ok(())
}

/// Appends a finite, non-negative float with `N` significant digits, at most 17, like C's `%.Ng`.
///
/// # Errors
/// MemoryError.
pub(crate) fn write_general<const N: usize>(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    let mut number = LongDecimal::new();
    decimal::significant_digits::<N>(value, &mut number);
    write(out, &number, N)
}

/// Appends a decimal number. Uses scientific notation if there would be more than `most` digits
/// before the point, or more than three zeros directly after it.
fn write(out: &mut Buffer<u8>, number: &LongDecimal, most: usize) -> Result<()> {
    let (digits, exponent) = (number.digits(), number.point - 1);
    let is_scientific = !(-4..most as i32).contains(&exponent);
    let point = if is_scientific { 1 } else { number.point };
    // A number below 1 has leading zeros, the first of them before the point.
    for at in (point - 1).min(0)..point.max(digits.len() as i32) {
        if at == point {
            out.try_push(b'.')?;
        }
        out.try_push(b'0' + digits.get(at as usize).copied().unwrap_or(0))?;
    }
    if is_scientific {
        out.try_extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" })?;
        if exponent.unsigned_abs() < 10 {
            out.try_push(b'0')?;
        }
        write_int(out, exponent.abs().into())?;
    }
    Ok(())
}
