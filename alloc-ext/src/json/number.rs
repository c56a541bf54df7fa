//! JSON numbers, parsed and written like upstream's C library does.
#![forbid(unsafe_code)]

mod value;

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;

pub(crate) use super::digits::write_int;
use super::general::write_finite;
use super::{decimal, short_number};
pub(crate) use value::Number;

/// Parses the number at the start of `text`. Returns its value and its length in bytes; `None` if there is no number.
///
/// Digits with an optional sign are an int if it fits in 64 bits; all other numbers are floats. A number whose 64-bit float
/// is infinite or a rounded subnormal is rejected.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `JSONParserContext::NextNumber` in `json_parser.cc`.
#[inline]
pub(crate) fn read(text: &[u8]) -> Result<Option<(Number, usize)>> {
    match short_number::read(text) {
        Some(found) => Ok(Some(found)),
        None => {
            let mut len = 0;
            Ok(read_other(text, &mut len)?.map(|number| (number, len)))
        }
    }
}

/// Returns `true` if a byte may occur in a number.
#[inline]
pub(super) fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// Numbers written as words, with their values.
static WORDS: [(&[u8], f64); 3] =
    [(b"Infinity", f64::INFINITY), (b"-Infinity", f64::NEG_INFINITY), (b"NaN", f64::from_bits(0x7ff8 << 48))];

/// Parses a number without the fast path: long ints, other floats, and words. Stores its length in bytes in `len`.
#[inline(never)]
pub(super) fn read_other(text: &[u8], len: &mut usize) -> Result<Option<Number>> {
    *len = text.iter().position(|byte| !is_number_byte(*byte)).unwrap_or(text.len());
    let number = decimal::read(text.get(..*len).unwrap_or_default())?;
    if number.is_some() {
        return Ok(number);
    }
    let word = WORDS.iter().find(|(word, _)| text.starts_with(word));
    Ok(word.map(|(word, value)| {
        *len = word.len();
        Number::Float(*value)
    }))
}

/// Appends a minus sign if `negative`. Branch-free, since signs are unpredictable.
pub(super) fn write_sign(out: &mut Buffer<u8>, negative: bool) -> Result<()> {
    let len = out.len() + usize::from(negative);
    out.try_push(b'-')?;
    out.truncate(len);
    Ok(())
}

/// Appends a float. Whole numbers below 2^53 end in `.0`; other numbers have up to 17 significant digits.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `JSONWriter::WriteFloat` in `json_writer.cc`.
pub(super) fn write_float(out: &mut Buffer<u8>, value: f64) -> Result<()> {
    // Compares bits, since small cores have no instructions for 64-bit floats.
    let magnitude = value.to_bits() & i64::MAX as u64;
    if magnitude > INFINITE {
        return Ok(out.try_extend_from_slice(b"NaN")?);
    }
    // Zero has a sign, too.
    write_sign(out, magnitude != value.to_bits())?;
    if magnitude == INFINITE {
        return Ok(out.try_extend_from_slice(b"Infinity")?);
    }
    write_finite(out, f64::from_bits(magnitude))
}

/// Bits of positive infinity.
const INFINITE: u64 = f64::INFINITY.to_bits();

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64) -> std::string::String {
        let mut out = Buffer::new();
        assert!(write_float(&mut out, value).is_ok());
        std::string::String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn floats_have_seventeen_digits_or_a_point_and_a_zero() {
        // Expected texts from upstream.
        for (value, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.10000000000000001"),
            (-2.5, "-2.5"),
            (1e-4, "0.0001"),
            (1e-5, "1.0000000000000001e-05"),
            (0.00012345, "0.00012344999999999999"),
            (123456.789, "123456.789"),
            (9007199254740991.0, "9007199254740991.0"),
            (9007199254740992.0, "9007199254740992"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (1e22, "1e+22"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
            (-f64::NAN, "NaN"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn ints_have_all_their_digits() -> Result<()> {
        for value in [0, 7, -7, 10, 1234567890123456789, i64::MAX, i64::MIN] {
            let mut out = Buffer::new();
            write_int(&mut out, value)?;
            assert_eq!(core::str::from_utf8(&out).ok(), Some(std::format!("{value}").as_str()));
        }
        Ok(())
    }

    #[test]
    fn the_longest_ints_stay_ints() -> Result<()> {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("01", 1),
            ("+5", 5),
            ("000000000000000000000007", 7),
            ("123456789012345678", 123456789012345678),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            let Some((Number::Int(read), len)) = read(text.as_bytes())? else { panic!("{text} is an int") };
            assert_eq!((read, len), (value, text.len()), "{text}");
        }
        Ok(())
    }

    #[test]
    fn short_floats_are_exact() -> Result<()> {
        let mut state = 88172645463325252u64;
        for _ in 0..if cfg!(miri) { 20 } else { 20_000 } {
            // Marsaglia's xorshift.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let digits = std::format!("{:0width$}", state >> (state % 64), width = state as usize % 9);
            let point = (state >> 32) as usize % (digits.len() + 1);
            let sign = if state & 1 == 0 { "-" } else { "" };
            let text = std::format!("{sign}{}.{}", &digits[..point], &digits[point..]);
            let expected: f64 = text.parse().expect("a number");
            let Some((Number::Float(value), len)) = read(text.as_bytes())? else {
                panic!("{text} is a float")
            };
            assert_eq!((value.to_bits(), len), (expected.to_bits(), text.len()), "{text}");
        }
        Ok(())
    }

    #[test]
    fn other_numbers_are_floats() -> Result<()> {
        for (text, value) in [
            ("9223372036854775808", 9223372036854775808.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("-0.0", -0.0),
            ("1E+2", 100.0),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            let Some((Number::Float(read), len)) = read(text.as_bytes())? else {
                panic!("{text} is a float")
            };
            assert_eq!((read.to_bits(), len), (value.to_bits(), text.len()), "{text}");
        }
        for text in
            ["", "-", "+", ".", "e5", "1e", "1.2.3", "1-2", "--1", "-NaN", "Infinit", "+Infinity", "x"]
        {
            assert!(read(text.as_bytes())?.is_none(), "{text}");
        }
        Ok(())
    }
}
