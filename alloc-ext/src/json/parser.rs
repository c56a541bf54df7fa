//! JSON parser: one pass over the text, with an explicit stack instead of recursion.
#![forbid(unsafe_code)]

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::any::Any;

use super::decimal::Number;
use super::number;
use super::text::{self, BadEscape};
use super::value_builder::{Builder, ValueBuilder};

/// Parses JSON text in any encoding that extends ASCII.
///
/// Allocation: the objects of the result, each in its final size, and buffers that grow with the
/// nesting depth. On hosts, many objects share one
/// [chunk](ferrite_core::object::object_alloc::Chunks) of memory; an object that outlives the
/// others may keep up to 16 KiB alive.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::containers::Array;
/// use ferrite_alloc_ext::json;
///
/// # fn main() -> ferrite_core::Result<()> {
/// let axes: Array<i64> = json::parse(b"[0, 2]")?.get()?;
/// assert_eq!(axes.get(1)?, 2);
/// assert_eq!(json::parse(b"[0").unwrap_err().kind().as_str(), "ValueError");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError for invalid JSON, with the message of Python's json module: expected token, line,
/// column and byte offset. MemoryError.
///
/// # Upstream
/// `json::Parse` in `extra/json.h`, which recurses and so crashes on deep documents.
pub fn parse(text: &[u8]) -> Result<Any> {
    build(text, &mut ValueBuilder::default())
}

/// Parses JSON text and builds its value with `builder`.
///
/// Allocation: that of the builder, and buffers that grow with the nesting depth.
///
/// # Errors
/// Errors of [`parse`].
pub(super) fn build<B: Builder>(text: &[u8], builder: &mut B) -> Result<B::Value> {
    let mut parser = Parser {
        text,
        at: 0,
        values: Buffer::new(),
        open: Buffer::new(),
        unescaped: Buffer::new(),
        builder,
    };
    parser.document()
}

struct Parser<'t, 'b, B: Builder> {
    text: &'t [u8],
    at: usize,
    /// Elements of the open arrays, alternating keys and values of the open objects, and the last
    /// completed value.
    values: Buffer<B::Value>,
    open: Buffer<Open>,
    /// Scratch buffer for decoding strings with escapes.
    unescaped: Buffer<u8>,
    builder: &'b mut B,
}

/// An open container, whose end has not been parsed yet.
#[derive(Clone, Copy)]
struct Open {
    /// Index of the container's first element or key in `Parser::values`.
    first: usize,
    /// Closing byte: a brace for objects, a bracket for arrays.
    end: u8,
}

impl Open {
    fn is_object(self) -> bool {
        self.end == b'}'
    }
}

impl<B: Builder> Parser<'_, '_, B> {
    fn document(&mut self) -> Result<B::Value> {
        loop {
            let mut is_complete = self.start_value()?;
            while is_complete && let Some(open) = self.open.last().copied() {
                is_complete = self.continue_in(open)?;
            }
            if is_complete {
                return self.end();
            }
        }
    }

    /// Parses a value, or the start of a container. Returns `true` if the value is complete or the
    /// container is at its closing byte.
    fn start_value(&mut self) -> Result<bool> {
        match self.peek_after_space() {
            b'"' => self.string(false)?,
            // In ASCII, the closing byte is the opening byte plus 2.
            begin @ (b'{' | b'[') => return self.start_container(begin + 2),
            b't' => self.word("true", true.into())?,
            b'f' => self.word("false", false.into())?,
            b'n' => self.word("null", B::Value::default())?,
            _ => self.number()?,
        }
        Ok(true)
    }

    /// Parses the separator after a value. Returns `true` at the closing byte of the container,
    /// `false` if another value follows.
    fn continue_in(&mut self, open: Open) -> Result<bool> {
        match self.peek_after_space() {
            b',' => {
                self.at += 1;
                self.peek_after_space();
                if self.rest().is_empty() {
                    return Err(self.fail("Syntax error near"));
                }
                if open.is_object() {
                    self.key()?;
                }
                Ok(false)
            }
            next if next == open.end => {
                self.at += 1;
                self.finish(open).map(|()| true)
            }
            _ => Err(self.fail("Expecting ',' delimiter")),
        }
    }

    /// Builds a container from its values on the stack, and replaces them by it.
    fn finish(&mut self, open: Open) -> Result<()> {
        let container = if open.is_object() {
            self.builder.object(&mut self.values, open.first)?
        } else {
            self.builder.array(&mut self.values, open.first)?
        };
        self.open.pop();
        Ok(self.values.try_push(container)?)
    }

    /// Returns the value of the document; ValueError if anything but white space follows it.
    fn end(&mut self) -> Result<B::Value> {
        self.peek_after_space();
        if !self.rest().is_empty() {
            return Err(self.fail("Extra data"));
        }
        Ok(self.values.pop().unwrap_or_default())
    }

    /// Parses the start of a container. Returns `true` if the container is empty.
    fn start_container(&mut self, end: u8) -> Result<bool> {
        self.at += 1;
        let open = Open { first: self.values.len(), end };
        self.open.try_push(open)?;
        if self.peek_after_space() == end {
            return Ok(true);
        }
        if open.is_object() {
            self.key()?;
        }
        Ok(false)
    }

    /// Parses an object key and the colon after it.
    fn key(&mut self) -> Result<()> {
        if self.peek() != b'"' {
            return Err(self.fail("Expecting property name enclosed in double quotes"));
        }
        self.string(true)?;
        if self.peek_after_space() != b':' {
            return Err(self.fail("Expecting ':' delimiter"));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: B::Value) -> Result<()> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fail("Expecting value"));
        }
        self.at += word.len();
        Ok(self.values.try_push(value)?)
    }

    fn number(&mut self) -> Result<()> {
        // Inlined per kind of number, so that the result need not be materialised where the kinds
        // meet.
        if let Some((number, len)) = number::read_short(self.rest()) {
            return self.push_number(number, len);
        }
        let mut len = 0;
        match number::read_other(self.rest(), &mut len)? {
            Some(number) => self.push_number(number, len),
            None => Err(self.fail("Expecting value")),
        }
    }

    #[inline(always)]
    fn push_number(&mut self, number: Number, len: usize) -> Result<()> {
        self.at += len;
        match number {
            Number::Int(value) => Ok(self.values.try_push(B::Value::from(value))?),
            Number::Float(value) => Ok(self.values.try_push(B::Value::from(value))?),
        }
    }

    /// Parses a string. The next byte is its opening quote.
    #[inline]
    fn string(&mut self, is_key: bool) -> Result<()> {
        let start = self.at + 1;
        let content = self.text.get(start..).unwrap_or_default();
        if let Some((word, len)) = text::short_literal(content) {
            self.at = start + len + 1;
            return Ok(self.values.try_push(B::short(word, len))?);
        }
        self.long_string(is_key)
    }

    /// General case of [`string`](Self::string), for strings of any length.
    #[inline(never)]
    fn long_string(&mut self, is_key: bool) -> Result<()> {
        let quote = self.at;
        self.at += 1;
        self.unescaped.clear();
        loop {
            let start = self.at;
            let len = text::literal_len(self.rest());
            self.at += len;
            let Some(special) = self.text.get(self.at).copied() else {
                self.at = quote;
                return Err(self.fail("Unterminated string starting at"));
            };
            if special == b'"' && self.unescaped.is_empty() {
                self.at += 1;
                let string = self.builder.literal(self.text, start, len, is_key)?;
                return Ok(self.values.try_push(string)?);
            }
            self.unescaped
                .try_extend_from_slice(self.text.get(start..self.at).unwrap_or_default())?;
            match special {
                b'"' => break,
                b'\\' => self.escape()?,
                _ => return Err(self.fail("Invalid control character at")),
            }
        }
        self.at += 1;
        let string = self.builder.unescaped(&self.unescaped)?;
        Ok(self.values.try_push(string)?)
    }

    fn escape(&mut self) -> Result<()> {
        let (what, offset) = match text::read_escape(self.rest()) {
            Ok((character, len)) => {
                self.at += len;
                return Ok(self
                    .unescaped
                    .try_extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes())?);
            }
            Err(BadEscape::Unknown) => ("Invalid \\escape", 1),
            Err(BadEscape::Digits(offset)) => ("Invalid \\uXXXX escape", offset),
            Err(BadEscape::Surrogate(offset)) => {
                ("Invalid surrogate pair of \\uXXXX escapes", offset)
            }
        };
        self.at += offset;
        Err(self.fail(what))
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the next byte, or 0 at the end of the text. No token starts with 0.
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space, then returns the next byte like [`peek`](Self::peek).
    #[inline]
    fn peek_after_space(&mut self) -> u8 {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                next => return next,
            }
        }
    }

    /// Returns the ValueError for the current position. Newlines before it are always white space,
    /// so counting them gives the line number.
    #[cold]
    fn fail(&self, what: &str) -> Error {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        let (mut line, mut line_start) = (1, 0);
        for (at, _) in before.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            (line, line_start) = (line + 1, at + 1);
        }
        let column = self.at - line_start + 1;
        plain_error!(VALUE_ERROR, "{}: line {} column {} (char {})", what, line, column, self.at)
    }
}
