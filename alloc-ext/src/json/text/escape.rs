//! Escapes of JSON strings.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::ESCAPES;

/// Appends the escape of a byte: a backslash and a letter, or `\u00XX`.
pub(super) fn write_escape(out: &mut Buffer<u8>, byte: u8) -> Result<()> {
    match ESCAPES.iter().find(|[escaped, _]| *escaped == byte) {
        Some([_, letter]) => Ok(out.try_extend_from_slice(&[b'\\', *letter])?),
        None => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
            Ok(out.try_extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                digit(byte >> 4),
                digit(byte),
            ])?)
        }
    }
}

/// An invalid escape. Offsets are relative to the backslash.
pub(in crate::json) enum BadEscape {
    /// Unknown letter after the backslash.
    Unknown,
    /// Fewer than four hexadecimal digits, at this offset.
    Digits(usize),
    /// Unpaired surrogate, at this offset.
    Surrogate(usize),
}

/// Parses the escape at the start of `text`, whose first byte is a backslash. Returns the character
/// and the length of the escape.
///
/// # Upstream
/// `JSONParserContext::NextStringWithFullHandling` in `json_parser.cc`.
pub(in crate::json) fn read_escape(text: &[u8]) -> core::result::Result<(char, usize), BadEscape> {
    let letter = text.get(1).copied().unwrap_or(0);
    if letter == b'u' {
        return read_unicode(text);
    }
    let escape = ESCAPES.iter().find(|[_, other]| *other == letter);
    let Some([escaped, _]) = escape else { return Err(BadEscape::Unknown) };
    Ok((char::from(*escaped), 2))
}

/// Length of `\uXXXX` in bytes.
const UNIT_LEN: usize = 6;

fn read_unicode(text: &[u8]) -> core::result::Result<(char, usize), BadEscape> {
    let first = read_unit(text).ok_or(BadEscape::Digits(1))?;
    // Every number other than a surrogate is a character.
    if let Some(character) = char::from_u32(first) {
        return Ok((character, UNIT_LEN));
    }
    let second = text.get(UNIT_LEN..).unwrap_or_default();
    if first >= 0xdc00 || !second.starts_with(b"\\u") {
        return Err(BadEscape::Surrogate(1));
    }
    // Upstream points to the digits of the second half, but to the `u` of the first.
    let second_at = UNIT_LEN + 2;
    let low = read_unit(second).ok_or(BadEscape::Digits(second_at))?;
    if !(0xdc00..=0xdfff).contains(&low) {
        return Err(BadEscape::Surrogate(second_at));
    }
    let character = char::from_u32(((first - 0xd800) << 10) + (low - 0xdc00) + 0x1_0000);
    Ok((character.ok_or(BadEscape::Surrogate(1))?, 2 * UNIT_LEN))
}

/// Parses the hexadecimal number of a `\uXXXX` escape; `None` if it has fewer than four digits.
fn read_unit(text: &[u8]) -> Option<u32> {
    let digits = text.get(2..UNIT_LEN)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}
