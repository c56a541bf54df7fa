//! Floats as C++ streams print them: six significant digits.
#![forbid(unsafe_code)]

use core::fmt::Write;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::text::SliceWriter;

/// Significant digits.
const DIGITS: usize = 6;

/// Appends a float as C's `%g` does.
///
/// # Errors
///
/// MemoryError.
pub(super) fn write_float(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    // Zeros and NaN have a sign, too.
    if value.is_sign_negative() {
        out.try_push(b'-')?;
    }
    if value.is_nan() {
        return out.try_extend_from_slice(b"nan");
    }
    if value.is_infinite() {
        return out.try_extend_from_slice(b"inf");
    }
    let mut room = [0; 16];
    let mut writer = SliceWriter::new(&mut room);
    // One digit, a point, five digits, `e`, the exponent: 12 bytes at most, which a slice takes without fail.
    let _ = write!(writer, "{:.5e}", value.abs());
    let len = writer.len;
    let text = room.get(..len).unwrap_or_default();
    let Some((mantissa, exponent)) = text.split_at_checked(DIGITS + 1) else { return Ok(()) };
    let mut digits = [b'0'; DIGITS];
    for (digit, byte) in digits.iter_mut().zip(mantissa.iter().filter(|byte| **byte != b'.')) {
        *digit = *byte;
    }
    let exponent = core::str::from_utf8(exponent).ok().and_then(|text| text.strip_prefix('e')?.parse().ok());
    let kept = digits.iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
    layout(out, digits.get(..kept).unwrap_or_default(), exponent.unwrap_or(0))
}

/// Puts the point into digits whose first one counts `10^exponent`.
fn layout(out: &mut Buffer<u8>, digits: &[u8], exponent: i32) -> Result<()> {
    match usize::try_from(exponent) {
        Ok(exponent) if exponent < DIGITS => {
            let (whole, fraction) = digits.split_at(digits.len().min(exponent + 1));
            out.try_extend_from_slice(whole)?;
            out.try_resize(out.len() + exponent + 1 - whole.len(), b'0')?;
            write_fraction(out, fraction)
        }
        Err(_) if exponent >= -4 => {
            out.try_extend_from_slice(b"0.")?;
            out.try_resize(out.len() + (exponent + 1).unsigned_abs() as usize, b'0')?;
            out.try_extend_from_slice(digits)
        }
        _ => write_exponent(out, digits, exponent),
    }
}

fn write_exponent(out: &mut Buffer<u8>, digits: &[u8], exponent: i32) -> Result<()> {
    let (first, fraction) = digits.split_at(digits.len().min(1));
    out.try_extend_from_slice(first)?;
    write_fraction(out, fraction)?;
    out.try_extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" })?;
    let magnitude = exponent.unsigned_abs();
    let digit = |value: u32| b'0' + (value % 10) as u8;
    if magnitude >= 100 {
        out.try_push(digit(magnitude / 100))?;
    }
    out.try_extend_from_slice(&[digit(magnitude / 10), digit(magnitude)])
}

fn write_fraction(out: &mut Buffer<u8>, digits: &[u8]) -> Result<()> {
    if digits.is_empty() {
        return Ok(());
    }
    out.try_push(b'.')?;
    out.try_extend_from_slice(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_six_significant_digits() -> Result<()> {
        // Answers of C's printf.
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (0.1, "0.1"),
            (100000.0, "100000"),
            (100000.5, "100000"),
            (100001.5, "100002"),
            (999999.5, "1e+06"),
            (1234567.0, "1.23457e+06"),
            (1e16, "1e+16"),
            (-1e100, "-1e+100"),
            (1e-4, "0.0001"),
            (0.00012345678, "0.000123457"),
            (1e-5, "1e-05"),
            (2.5e-310, "2.5e-310"),
            (f64::MAX, "1.79769e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "-nan"),
        ] {
            let mut out = Buffer::new();
            write_float(&mut out, value)?;
            assert_eq!(core::str::from_utf8(&out), Ok(text));
        }
        Ok(())
    }
}
