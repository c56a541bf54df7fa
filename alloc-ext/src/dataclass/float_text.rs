//! Formatting of floats with six significant digits, like C++ streams.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use crate::json::write_general;

/// Appends a float in the format of C's `%g`.
///
/// # Errors
/// MemoryError.
pub(super) fn write_float(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    // Zeros and NaN have a sign, too.
    if value.is_sign_negative() {
        out.try_push(b'-')?;
    }
    if value.is_nan() {
        return Ok(out.try_extend_from_slice(b"nan")?);
    }
    if value.is_infinite() {
        return Ok(out.try_extend_from_slice(b"inf")?);
    }
    if value == 0.0 {
        return Ok(out.try_push(b'0')?);
    }
    write_general::<6>(out, value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_six_significant_digits() -> Result<()> {
        // Expected strings from C's printf.
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
