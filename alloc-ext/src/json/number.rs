//! JSON numbers, parsed and written like upstream's C library does.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::decimal::{self, Number};
#[cfg(feature = "speed")]
use super::digits;
use super::digits::write_sign;
use super::general::write_finite;

/// Number of decimal digits that always fit in a signed 64-bit integer.
#[cfg(feature = "speed")]
const SAFE_DIGITS: usize = 18;
/// Upper bound of the integers that are exactly representable as floats.
#[cfg(feature = "speed")]
const MOST_EXACT: u64 = 1 << 53;

/// Powers of ten by exponent, all of them exact floats.
#[cfg(feature = "speed")]
static POWERS_OF_TEN: [f64; SAFE_DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// Parses the number at the start of `text`. Returns its value and its length in bytes; `None` if
/// there is no number.
///
/// Digits with an optional sign are an int if it fits in 64 bits; all other numbers are floats. A
/// number whose 64-bit float is infinite or a rounded subnormal is rejected.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `JSONParserContext::NextNumber` in `json_parser.cc`.
#[inline]
pub(crate) fn read(text: &[u8]) -> Result<Option<(Number, usize)>> {
    match read_short(text) {
        Some(found) => Ok(Some(found)),
        None => {
            let mut len = 0;
            Ok(read_other(text, &mut len)?.map(|number| (number, len)))
        }
    }
}

/// Parses a number of up to 18 digits, with an optional minus sign and decimal point. Returns its
/// value and its length in bytes; `None` for other strings, and for floats that are not the
/// quotient of two exact ones.
#[cfg(feature = "speed")]
#[inline(always)]
pub(super) fn read_short(text: &[u8]) -> Option<(Number, usize)> {
    let sign_len = usize::from(text.first() == Some(&b'-'));
    let digits = text.get(sign_len..)?;
    let (whole, whole_len) = digits::read(digits, 0);
    if whole_len > 0 && whole_len <= SAFE_DIGITS && ends_at(digits, whole_len) {
        let value = if sign_len == 0 { whole as i64 } else { -(whole as i64) };
        return Some((Number::Int(value), sign_len + whole_len));
    }
    let fraction = digits.get(whole_len..)?.strip_prefix(b".")?;
    let (number, fraction_len) = digits::read(fraction, whole);
    let len = whole_len + fraction_len;
    if len == 0 || len > SAFE_DIGITS || number > MOST_EXACT || !ends_at(fraction, fraction_len) {
        return None;
    }
    let magnitude = number as f64 / POWERS_OF_TEN.get(fraction_len)?;
    let value = if sign_len == 0 { magnitude } else { -magnitude };
    Some((Number::Float(value), sign_len + len + 1))
}

/// Returns `None`: size-optimised builds parse every number by exact arithmetic.
#[cfg(not(feature = "speed"))]
pub(super) fn read_short(_: &[u8]) -> Option<(Number, usize)> {
    None
}

/// Returns `true` if the number ends at index `len` of `text`.
#[cfg(feature = "speed")]
#[inline]
fn ends_at(text: &[u8], len: usize) -> bool {
    !text.get(len).copied().is_some_and(is_number_byte)
}

/// Returns `true` if a byte may occur in a number.
#[inline]
pub(super) fn is_number_byte(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// Numbers written as words, with their values.
static WORDS: [(&[u8], f64); 3] = [
    (b"Infinity", f64::INFINITY),
    (b"-Infinity", f64::NEG_INFINITY),
    (b"NaN", f64::from_bits(0x7ff8 << 48)),
];

/// Parses a number without the fast path: long ints, other floats, and words. Stores its length in
/// bytes in `len`.
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

/// Appends a float. Whole numbers below 2^53 end in `.0`; other numbers have up to 17 significant
/// digits.
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
    use crate::json::digits::write_int;

    fn float(value: f64) -> std::string::String {
        let mut out = Buffer::new();
        assert!(write_float(&mut out, value).is_ok());
        std::string::String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn floats_have_seventeen_digits_or_a_point_and_a_zero() {
        // Expected strings from upstream.
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
            let Some((Number::Int(read), len)) = read(text.as_bytes())? else {
                panic!("{text} is an int")
            };
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
            let digits =
                std::format!("{:0width$}", state >> (state % 64), width = state as usize % 9);
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
        for text in [
            "",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "1.2.3",
            "1-2",
            "--1",
            "-NaN",
            "Infinit",
            "+Infinity",
            "x",
        ] {
            assert!(read(text.as_bytes())?.is_none(), "{text}");
        }
        Ok(())
    }
}
