//! JSON strings: search for the end, escaping and unescaping.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::text::ESCAPES;

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod scan;

pub(crate) use scan::literal_len;
pub(super) use scan::short_literal;

/// Appends a JSON string: `text` in quotes, with escapes.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `EscapeStringJSON` in `string.h`.
pub(crate) fn write_quoted(out: &mut Buffer<u8>, text: &[u8]) -> Result<()> {
    out.try_reserve(text.len().saturating_add(2))?;
    out.try_push(b'"')?;
    scan::write_content(out, text)?;
    Ok(out.try_push(b'"')?)
}

/// Appends the escape of a byte: a backslash and a letter, or `\u00XX`.
fn write_escape(out: &mut Buffer<u8>, byte: u8) -> Result<()> {
    match ESCAPES.iter().find(|[escaped, _]| *escaped == byte) {
        Some([_, letter]) => Ok(out.try_extend_from_slice(&[b'\\', *letter])?),
        None => {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 15)];
            Ok(out.try_extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)])?)
        }
    }
}

/// An invalid escape. Offsets are relative to the backslash.
pub(super) enum BadEscape {
    /// Unknown letter after the backslash.
    Unknown,
    /// Fewer than four hexadecimal digits, at this offset.
    Digits(usize),
    /// Unpaired surrogate, at this offset.
    Surrogate(usize),
}

/// Parses the escape at the start of `text`, whose first byte is a backslash. Returns the character and the length of the
/// escape.
///
/// # Upstream
/// `JSONParserContext::NextStringWithFullHandling` in `json_parser.cc`.
pub(super) fn read_escape(text: &[u8]) -> core::result::Result<(char, usize), BadEscape> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_find_the_same_end() {
        for byte in 0..=255u8 {
            for at in (0..20).step_by(if cfg!(miri) { 19 } else { 1 }) {
                // The byte after the text must not matter, nor bytes that differ in the top bit only.
                let mut text = [0xa2u8; 20];
                text[at] = byte;
                if let Some(next) = text.get_mut(at + 1) {
                    *next = b'"';
                }
                let stops = byte < 0x20 || byte == b'"' || byte == b'\\';
                let expected = if stops { at } else { (at + 1).min(text.len()) };
                assert_eq!(literal_len(&text), expected, "byte {byte} at {at}");
                let mut out = Buffer::new();
                let expected =
                    if stops || matches!(byte, b'/' | 0x7f) { at } else { (at + 1).min(text.len()) };
                assert!(write_quoted(&mut out, &text).is_ok());
                assert_eq!(out.get(1..=expected), text.get(..expected), "byte {byte} at {at}");
                let next = if expected == text.len() { b'"' } else { b'\\' };
                assert_eq!(out.get(1 + expected), Some(&next), "byte {byte} at {at}");
            }
        }
    }

    #[test]
    fn quoted_text_is_escaped_as_upstream_does() -> Result<()> {
        let mut out = Buffer::new();
        write_quoted(&mut out, b"a/\"\\\x08\x0c\n\r\t\x01\x1f\x7f\xc3\xa9\xff")?;
        assert_eq!(
            out.as_slice(),
            b"\"a\\/\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\xc3\xa9\xff\"".as_slice()
        );
        Ok(())
    }

    #[test]
    fn escapes_become_characters() {
        let read = |text: &str| read_escape(text.as_bytes()).ok();
        assert_eq!(read("\\nx"), Some(('\n', 2)));
        assert_eq!(read("\\u00e9x"), Some(('é', 6)));
        assert_eq!(read("\\uD83d\\uDe00"), Some(('😀', 12)));
        assert_eq!(read("\\u0000"), Some(('\0', 6)));
        for bad in
            ["\\", "\\x", "\\u12", "\\u123g", "\\udc00\\udc00", "\\ud800", "\\ud800\\u0041", "\\ud800\\uz"]
        {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
