//! Output of text in any encoding: lossy display, writers into byte slices, and JSON escapes.
#![forbid(unsafe_code)]

use core::fmt::{self, Write};

/// Display adapter for bytes, which replaces invalid UTF-8 by the replacement character.
pub struct Lossy<'a>(pub &'a [u8]);

impl fmt::Display for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                f.write_char(char::REPLACEMENT_CHARACTER)?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Lossy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for chunk in self.0.utf8_chunks() {
            write!(f, "{}", chunk.valid().escape_debug())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        f.write_char('"')
    }
}

/// Writer into a byte slice. Bytes beyond the end of the slice are dropped, but counted.
pub struct Writer<'a> {
    target: &'a mut [u8],
    /// Number of bytes written so far, including dropped ones.
    pub wanted: usize,
}

impl<'a> Writer<'a> {
    /// Creates a writer at the start of `target`. With an empty slice it only counts.
    pub fn new(target: &'a mut [u8]) -> Writer<'a> {
        Writer { target, wanted: 0 }
    }

    /// Writes bytes.
    pub fn put(&mut self, text: &[u8]) {
        if cfg!(feature = "speed") {
            // A loop that compilers vectorise.
            if let Some(rest) = self.target.get_mut(self.wanted..) {
                rest.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
            }
            self.wanted = self.wanted.saturating_add(text.len());
            return;
        }
        for byte in text {
            if let Some(place) = self.target.get_mut(self.wanted) {
                *place = *byte;
            }
            self.wanted = self.wanted.wrapping_add(1);
        }
    }

    /// Writes bytes as text. In speed-optimised builds, invalid UTF-8 is replaced with the
    /// replacement character, since clients in other languages decode messages as UTF-8. In
    /// size-optimised builds messages are not decoded, and the check would take more code than a
    /// message.
    pub fn put_lossy(&mut self, text: &[u8]) {
        if !cfg!(feature = "speed") {
            return self.put(text);
        }
        for chunk in text.utf8_chunks() {
            self.put(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                self.put("\u{fffd}".as_bytes());
            }
        }
    }

    /// Writes a pointer-sized number in decimal. Size-optimised builds link the functions for 64
    /// bits only if 64-bit numbers are written.
    pub fn put_word(&mut self, number: usize) {
        if cfg!(feature = "speed") {
            return self.put_unsigned(number as u64);
        }
        let tenth = number / 10;
        if tenth != 0 {
            self.put_word(tenth);
        }
        self.put(&[b'0' + (number - 10 * tenth) as u8]);
    }

    /// Writes a signed pointer-sized number in decimal.
    pub fn put_signed_word(&mut self, number: isize) {
        if number < 0 {
            self.put(b"-");
        }
        self.put_word(number.unsigned_abs());
    }

    /// Writes a signed number in decimal.
    pub fn put_number(&mut self, number: i64) {
        if number < 0 {
            self.put(b"-");
        }
        self.put_unsigned(number.unsigned_abs());
    }

    /// Writes an unsigned number in decimal. Recurses once per digit.
    pub fn put_unsigned(&mut self, number: u64) {
        let (tenth, digit) = divide_by_ten(number);
        if tenth != 0 {
            self.put_unsigned(tenth);
        }
        self.put(&[digit]);
    }
}

/// Divides a number by ten. Returns the quotient, and the remainder as an ASCII digit. Uses 32-bit
/// divisions, which are cheaper than 64-bit ones on small cores.
fn divide_by_ten(number: u64) -> (u64, u8) {
    let (high, low) = ((number >> 32) as u32, number as u32);
    let middle = ((high % 10) << 16) | (low >> 16);
    let end = ((middle % 10) << 16) | (low & 0xffff);
    let tenth = (u64::from(high / 10) << 32) | u64::from(((middle / 10) << 16) | (end / 10));
    (tenth, b'0' + (end % 10) as u8)
}

impl Write for Writer<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}

/// Writer into a byte slice. Text beyond the end of the slice is dropped.
pub struct SliceWriter<'a> {
    target: &'a mut [u8],
    /// Number of bytes written so far.
    pub len: usize,
}

impl<'a> SliceWriter<'a> {
    /// Creates a writer at the start of `target`.
    pub fn new(target: &'a mut [u8]) -> SliceWriter<'a> {
        SliceWriter { target, len: 0 }
    }
}

impl Write for SliceWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.target[self.len..];
        let count = room.len().min(text.len());
        room[..count].copy_from_slice(&text.as_bytes()[..count]);
        self.len += count;
        Ok(())
    }
}

/// Characters that have a short escape in JSON strings: each with the character that follows the
/// backslash.
pub const ESCAPES: [[u8; 2]; 8] =
    [*b"\"\"", *b"\\\\", *b"//", *b"\x08b", *b"\x0cf", *b"\nn", *b"\rr", *b"\tt"];

/// Writes the content of a JSON string, escaping quotes, backslashes, slashes and control
/// characters.
pub fn write_json_escaped(out: &mut Writer<'_>, text: &[u8]) {
    for byte in text {
        match byte {
            b'"' | b'\\' | b'/' | 0..b' ' => write_escape(out, *byte),
            _ => out.put(&[*byte]),
        }
    }
}

fn write_escape(out: &mut Writer<'_>, byte: u8) {
    if let Some([_, letter]) = ESCAPES.iter().find(|[escaped, _]| *escaped == byte) {
        return out.put(&[b'\\', *letter]);
    }
    let hex = |digit: u8| if digit < 10 { b'0' + digit } else { b'a' + digit - 10 };
    out.put(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn lossy_text_keeps_what_is_valid() {
        assert_eq!(Lossy(b"ab\xffc").to_string(), "ab\u{fffd}c");
        assert_eq!(std::format!("{:?}", Lossy(b"a\"\xff")), "\"a\\\"\\xff\"");
    }

    #[test]
    fn a_slice_writer_never_overruns() {
        let mut target = [0u8; 3];
        let mut writer = SliceWriter::new(&mut target);
        assert!(writer.write_str("abcdef").is_ok());
        assert_eq!((writer.len, &target), (3, b"abc"));
    }

    #[test]
    fn a_writer_counts_what_does_not_fit() {
        let mut target = [0u8; 3];
        let mut writer = Writer::new(&mut target);
        writer.put(b"ab");
        writer.put(b"cd");
        writer.put_number(-12);
        assert_eq!((writer.wanted, &target), (7, b"abc"));
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 9, 10, -1, i64::from(u32::MAX), 1 << 48, i64::MAX, i64::MIN] {
            let mut room = [0; 20];
            let mut writer = Writer::new(&mut room);
            writer.put_number(number);
            let len = writer.wanted;
            assert_eq!(&room[..len], number.to_string().as_bytes());
        }
    }

    #[test]
    fn json_text_is_escaped() {
        let mut room = [0; 40];
        let mut out = Writer::new(&mut room);
        write_json_escaped(&mut out, "{\"a\\\n/\u{1}\u{1f}\u{e9}\u{8}\u{c}\r\t".as_bytes());
        let len = out.wanted;
        assert_eq!(
            room.get(..len),
            Some("{\\\"a\\\\\\n\\/\\u0001\\u001f\u{e9}\\b\\f\\r\\t".as_bytes())
        );
    }
}
