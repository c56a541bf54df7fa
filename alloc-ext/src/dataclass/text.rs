//! Repr of strings and bytes: quoted, with Python's escapes.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

/// Appends a string in double quotes. Non-ASCII characters become `\uXXXX` or `\UXXXXXXXX`, and
/// bytes that are not valid UTF-8 become `\xXX`. In terminal colour sequences only the escape byte
/// is escaped, so that the numbers stay readable.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `EscapedStringPy` in `string.h`.
pub(super) fn write_string(out: &mut Buffer<u8>, text: &[u8]) -> Result<()> {
    out.try_push(b'"')?;
    let mut rest = text;
    loop {
        let (plain, others) = rest.split_at(plain_len(rest));
        out.try_extend_from_slice(plain)?;
        rest = others;
        let Some(byte) = rest.first() else { break };
        let taken = match colour_len(rest) {
            Some(len) => {
                out.try_extend_from_slice(b"\\x1b")?;
                out.try_extend_from_slice(rest.get(1..len).unwrap_or_default())?;
                len
            }
            None if byte.is_ascii() => {
                write_ascii(out, *byte)?;
                1
            }
            None => write_beyond_ascii(out, rest)?,
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    Ok(out.try_push(b'"')?)
}

/// Appends bytes as `b"..."`. Bytes other than printable ASCII, and quotes and backslashes, become
/// `\xXX`.
///
/// # Errors
/// MemoryError.
///
/// # Upstream
/// `FormatBytes` in `dataclass.cc`.
pub(super) fn write_bytes(out: &mut Buffer<u8>, content: &[u8]) -> Result<()> {
    out.try_extend_from_slice(b"b\"")?;
    for byte in content {
        match byte {
            b'"' | b'\\' => write_hex(out, b'x', u32::from(*byte), 2)?,
            b' '..=b'~' => out.try_push(*byte)?,
            _ => write_hex(out, b'x', u32::from(*byte), 2)?,
        }
    }
    Ok(out.try_push(b'"')?)
}

/// Returns the length of the prefix that needs no escapes.
fn plain_len(text: &[u8]) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    text.iter().position(|byte| !is_plain(byte)).unwrap_or(text.len())
}

/// Returns the length of a terminal sequence at the start of `text` that sets a colour or erases a
/// line; `None` for other text.
fn colour_len(text: &[u8]) -> Option<usize> {
    let numbers = text.strip_prefix(b"\x1b[")?;
    let end = numbers.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    matches!(numbers.get(end), Some(b'm' | b'K')).then_some(end + 3)
}

fn write_ascii(out: &mut Buffer<u8>, byte: u8) -> Result<()> {
    match byte {
        b'\n' => Ok(out.try_extend_from_slice(b"\\n")?),
        b'\t' => Ok(out.try_extend_from_slice(b"\\t")?),
        b'\r' => Ok(out.try_extend_from_slice(b"\\r")?),
        b'\\' | b'"' => Ok(out.try_extend_from_slice(&[b'\\', byte])?),
        _ => write_hex(out, b'x', u32::from(byte), 2),
    }
}

/// Appends the escape of one non-ASCII character, or of one byte that is not valid UTF-8. Returns
/// the number of bytes consumed. Like upstream, accepts overlong encodings and surrogates.
fn write_beyond_ascii(out: &mut Buffer<u8>, text: &[u8]) -> Result<usize> {
    let byte = text.first().copied().unwrap_or(0);
    let (len, head) = match byte {
        0xc0..=0xdf => (2, byte & 0x1f),
        0xe0..=0xef => (3, byte & 0x0f),
        0xf0..=0xf7 => (4, byte & 0x07),
        _ => (1, 0),
    };
    let tail = text.get(1..len).unwrap_or_default();
    if tail.is_empty() || tail.iter().any(|byte| byte & 0xc0 != 0x80) {
        write_hex(out, b'x', u32::from(byte), 2)?;
        return Ok(1);
    }
    let point =
        tail.iter().fold(u32::from(head), |point, byte| point << 6 | u32::from(byte & 0x3f));
    if len == 4 {
        write_hex(out, b'U', point, 8)?
    } else {
        write_hex(out, b'u', point, 4)?
    }
    Ok(len)
}

fn write_hex(out: &mut Buffer<u8>, kind: u8, number: u32, digits: u32) -> Result<()> {
    out.try_extend_from_slice(&[b'\\', kind])?;
    Ok((0..digits).rev().try_for_each(|place| {
        let digit = number >> (4 * place) & 15;
        out.try_push(b"0123456789abcdef"[digit as usize])
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_as_upstream_does() -> Result<()> {
        for (text, expected) in [
            (&b"a\"\\\n\t\r\x01\x7f"[..], &br#""a\"\\\n\t\r\x01\x7f""#[..]),
            ("é€😀".as_bytes(), br#""\u00e9\u20ac\U0001f600""#),
            (b"\xff\xc3", br#""\xff\xc3""#),
            (b"\xe2\x82", br#""\xe2\x82""#),
            (b"\x1b[1;31mred\x1b[K\x1b[2J", br#""\x1b[1;31mred\x1b[K\x1b[2J""#),
        ] {
            let mut out = Buffer::new();
            write_string(&mut out, text)?;
            assert_eq!(out.as_slice(), expected);
        }
        Ok(())
    }

    #[test]
    fn bytes_are_in_hexadecimal() -> Result<()> {
        let mut out = Buffer::new();
        write_bytes(&mut out, b"a\"\\\n~\x7f\xff ")?;
        assert_eq!(out.as_slice(), br#"b"a\x22\x5c\x0a~\x7f\xff ""#);
        Ok(())
    }
}
