//! Floats with a number of significant digits, as C's `%g` writes them, digit by digit, where size counts.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

use super::{decimal, digits};

/// Appends a positive, finite number with `N` significant digits, at most 17, as C's `%.Ng` does.
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
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < most => {
            let (whole, fraction) = digits.split_at_checked(exponent + 1).unwrap_or((digits, &[]));
            out.try_extend_from_slice(whole)?;
            for _ in whole.len()..exponent + 1 {
                out.try_push(b'0')?;
            }
            write_fraction(out, fraction)
        }
        Err(_) if exponent >= -4 => {
            out.try_extend_from_slice(b"0.")?;
            for _ in exponent..-1 {
                out.try_push(b'0')?;
            }
            out.try_extend_from_slice(digits)
        }
        _ => {
            let (first, fraction) = digits.split_at_checked(1).unwrap_or((digits, &[]));
            out.try_extend_from_slice(first)?;
            write_fraction(out, fraction)?;
            out.try_extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" })?;
            if exponent.unsigned_abs() < 10 {
                out.try_push(b'0')?;
            }
            digits::write(out, exponent.unsigned_abs().into())
        }
    }
}

fn write_fraction(out: &mut Buffer<u8>, digits: &[u8]) -> Result<()> {
    if digits.is_empty() {
        return Ok(());
    }
    out.try_push(b'.')?;
    out.try_extend_from_slice(digits)
}
