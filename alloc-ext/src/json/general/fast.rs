//! Speed-optimised `%g`: all significant digits, up to 17, in one integer.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::DIGITS;
use crate::json::digits::write_int;
use crate::json::{decimal, digits};

/// Reserved bytes: enough for the longest number, and for bytes that are written past its end and
/// truncated again.
const MOST_BYTES: usize = 48;

/// Appends a finite, non-negative float in JSON format. Whole numbers below 2^53 end in `.0`.
///
/// # Errors
/// MemoryError.
pub(in crate::json) fn write_finite(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    if let Some(whole) = decimal::small_whole(value) {
        write_int(out, whole)?;
        return Ok(out.try_extend_from_slice(b".0")?);
    }
    write_general::<DIGITS>(out, value)
}

/// Appends a positive finite float with `N` significant digits, at most 17, like C's `%.Ng`.
///
/// # Errors
/// MemoryError.
pub(crate) fn write_general<const N: usize>(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    let (number, exponent) = decimal::significant_digits::<N>(value);
    out.try_reserve(MOST_BYTES)?;
    let after_first = N - 1;
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < N => write_point(out, number, after_first - exponent),
        Err(_) if exponent >= -4 => {
            out.try_extend_from_slice(&b"0.000"[..1 + exponent.unsigned_abs() as usize])?;
            let unit = digits::power_of_ten(after_first);
            out.try_push(b'0' + (number / unit) as u8)?;
            digits::write_fraction(out, number % unit, after_first)
        }
        _ => {
            write_point(out, number, after_first)?;
            out.try_extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" })?;
            if exponent.unsigned_abs() < 10 {
                out.try_push(b'0')?;
            }
            digits::write(out, exponent.unsigned_abs().into())
        }
    }
}

/// Appends a decimal number whose last `fraction_len` digits are the fraction. Omits trailing
/// zeros.
fn write_point(out: &mut Buffer<u8>, number: u64, fraction_len: usize) -> Result<()> {
    let unit = digits::power_of_ten(fraction_len);
    let (whole, fraction) = (number / unit, number % unit);
    digits::write(out, whole)?;
    if fraction == 0 {
        return Ok(());
    }
    out.try_push(b'.')?;
    digits::write_fraction(out, fraction, fraction_len)
}
