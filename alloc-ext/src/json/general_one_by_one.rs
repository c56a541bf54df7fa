//! Floats with a number of significant digits, as C's `%g` writes them, digit by digit, where size counts.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::number::DIGITS;
use super::{decimal, digits};

/// The bits of 2^53: from there on whole numbers are written without a fraction, as upstream does.
const WHOLE: u64 = ((1u64 << f64::MANTISSA_DIGITS) as f64).to_bits();

/// Appends a finite number that is not negative: with `.0` when it is a whole one below 2^53.
///
/// # Errors
///
/// MemoryError.
pub(super) fn write_finite(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    let start = out.len();
    write_general::<DIGITS>(out, value)?;
    let is_whole = out.get(start..).is_some_and(|text| text.iter().all(u8::is_ascii_digit));
    if is_whole && value.to_bits() < WHOLE {
        out.try_extend_from_slice(b".0")?;
    }
    Ok(())
}

/// Appends a finite number that is not negative with `N` significant digits, at most 17, as C's `%.Ng` does.
///
/// # Errors
///
/// MemoryError.
pub(crate) fn write_general<const N: usize>(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    let (digits, exponent) = decimal::significant_digits::<N>(value);
    let kept = digits.iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
    layout_digits(out, digits.get(..kept).unwrap_or_default(), exponent, N)
}

/// Puts the point into digits whose first one counts `10^exponent`; numbers of more than `most` digits get an exponent.
fn layout_digits(out: &mut Buffer<u8>, digits: &[u8], exponent: i32, most: usize) -> Result<()> {
    let is_scientific = !(-4..most as i32).contains(&exponent);
    // A number below 1 has zeros in front of its digits, the first of them before the point.
    let point = if is_scientific { 0 } else { exponent };
    let (zeros, whole) = ((-point).max(0) as usize, point.max(0) as usize + 1);
    for at in 0..whole.max(zeros + digits.len()) {
        if at == whole {
            out.try_push(b'.')?;
        }
        let digit = at.checked_sub(zeros).and_then(|at| digits.get(at));
        out.try_push(digit.copied().unwrap_or(b'0'))?;
    }
    if is_scientific {
        out.try_extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" })?;
        if exponent.unsigned_abs() < 10 {
            out.try_push(b'0')?;
        }
        digits::write(out, exponent.unsigned_abs().into())?;
    }
    Ok(())
}
