//! Small helpers for text that may be bytes of any encoding.
#![forbid(unsafe_code)]

use core::fmt::{self, Write};

/// Shows bytes as text; what is not UTF-8 shows as the replacement character.
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

/// Counts the bytes of formatted text.
#[derive(Default)]
pub struct ByteCounter(pub usize);

impl Write for ByteCounter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_add(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Writes into a byte slice; text beyond its end is dropped.
pub struct SliceWriter<'a> {
    target: &'a mut [u8],
    /// Bytes written so far.
    pub len: usize,
}

impl<'a> SliceWriter<'a> {
    /// A writer that starts at the beginning of `target`.
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

/// Writes JSON string content: quotes, backslashes and control characters escaped.
pub struct JsonEscaper<'a>(pub &'a mut dyn Write);

impl Write for JsonEscaper<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '"' => self.0.write_str("\\\"")?,
                '\\' => self.0.write_str("\\\\")?,
                '/' => self.0.write_str("\\/")?,
                '\u{8}' => self.0.write_str("\\b")?,
                '\u{c}' => self.0.write_str("\\f")?,
                '\n' => self.0.write_str("\\n")?,
                '\r' => self.0.write_str("\\r")?,
                '\t' => self.0.write_str("\\t")?,
                control if control < ' ' => write!(self.0, "\\u{:04x}", control as u32)?,
                other => self.0.write_char(other)?,
            }
        }
        Ok(())
    }
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
    fn json_text_is_escaped() {
        let mut out = std::string::String::new();
        assert!(JsonEscaper(&mut out).write_str("{\"a\\\n/\u{1}").is_ok());
        assert_eq!(out, "{\\\"a\\\\\\n\\/\\u0001");
    }
}
