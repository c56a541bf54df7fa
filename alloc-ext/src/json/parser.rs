//! The parser: one pass over the text, with a stack of its own for what is open.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::plain_error;

use super::number::{self, Number};
use super::short;
use super::text::{self, BadEscape};
use super::values::Values;

/// Makes values of JSON text, of any encoding that leaves ASCII alone.
///
/// Allocation: the objects of the result, each in its final size, and buffers that grow with the depth. On hosts, many
/// objects lie in one [chunk](ferrite_core::object_alloc::Chunks) of memory: one that outlives the others may keep up to 16
/// KiB.
///
/// # Errors
/// ValueError that says what was expected where, as Python's json module does: line, column and byte offset.
/// MemoryError.
///
/// # Upstream
/// `json::Parse` in `extra/json.h`. That one recurses, so deep documents end the process.
pub fn parse(text: &[u8]) -> Result<Any> {
    build(text, &mut Values::default())
}

/// Makes of a text what `builder` builds of it.
///
/// Allocation: what the builder makes, and buffers that grow with the depth.
///
/// # Errors
/// Those of [`parse`].
pub(super) fn build<B: Builder>(text: &[u8], builder: &mut B) -> Result<B::Value> {
    let mut parser =
        Parser { text, at: 0, values: Buffer::new(), open: Buffer::new(), unescaped: Buffer::new(), builder };
    parser.document()
}

/// What becomes of the parts of a document.
pub(super) trait Builder {
    /// A value; the default one is null.
    type Value: Default + From<bool> + From<i64> + From<f64>;

    /// The string of the first `len` bytes of a word, of which more may follow; at most seven. None of them is 0.
    fn short(word: u64, len: usize) -> Self::Value;

    /// The string, which is a key or not, of the `len` bytes of `text` from `start` on.
    ///
    /// # Errors
    /// MemoryError.
    fn literal(&mut self, text: &[u8], start: usize, len: usize, is_key: bool) -> Result<Self::Value>;

    /// A string that does not stand in the text as it is.
    ///
    /// # Errors
    /// MemoryError.
    fn unescaped(&mut self, content: &[u8]) -> Result<Self::Value>;

    /// The array of the elements in `values` from `first` on, which move there.
    ///
    /// # Errors
    /// MemoryError.
    fn array(&mut self, values: &mut Buffer<Self::Value>, first: usize) -> Result<Self::Value>;

    /// The object of the keys and values in turns in `values` from `first` on, which move there; of a repeated key the last
    /// value stays.
    ///
    /// # Errors
    /// MemoryError.
    fn object(&mut self, values: &mut Buffer<Self::Value>, first: usize) -> Result<Self::Value>;
}

struct Parser<'t, 'b, B: Builder> {
    text: &'t [u8],
    at: usize,
    /// What the open containers have so far: elements of arrays; keys and values of objects in turn. A value that is
    /// complete is the last one.
    values: Buffer<B::Value>,
    open: Buffer<Open>,
    /// Room for strings with escapes.
    unescaped: Buffer<u8>,
    builder: &'b mut B,
}

/// A container whose end has not come yet.
#[derive(Clone, Copy)]
struct Open {
    /// The place of its first element or key among the values.
    first: usize,
    /// The byte that ends it: a brace for objects, a bracket for arrays.
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

    /// Reads up to where a value is complete or a container ends, and answers true, or another value must come.
    fn start_value(&mut self) -> Result<bool> {
        match self.peek_after_space() {
            b'"' => self.string(false)?,
            // In ASCII, what ends them comes two places behind.
            begin @ (b'{' | b'[') => return self.start_container(begin + 2),
            b't' => self.word("true", true.into())?,
            b'f' => self.word("false", false.into())?,
            b'n' => self.word("null", B::Value::default())?,
            _ => self.number()?,
        }
        Ok(true)
    }

    /// Reads what follows a value in a container: either goes on to its next value, or completes it and answers true.
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

    /// Puts a container in the place of its values.
    fn finish(&mut self, open: Open) -> Result<()> {
        let container = if open.is_object() {
            self.builder.object(&mut self.values, open.first)?
        } else {
            self.builder.array(&mut self.values, open.first)?
        };
        self.open.pop();
        Ok(self.values.try_push(container)?)
    }

    /// The document, behind which nothing may follow.
    fn end(&mut self) -> Result<B::Value> {
        self.peek_after_space();
        if !self.rest().is_empty() {
            return Err(self.fail("Extra data"));
        }
        Ok(self.values.pop().unwrap_or_default())
    }

    /// Reads up to where the first value must come, or answers true where there is none.
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

    /// Reads a key and its colon.
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
        // Each kind and length on its way, for all would first be put where they can meet.
        if let Some((number, len)) = short::read(self.rest()) {
            return self.push_number(number, len);
        }
        let mut len = 0;
        match number::read_other(self.rest(), &mut len)? {
            Some(number) => self.push_number(number, len),
            None => Err(self.fail("Expecting value")),
        }
    }

    #[cfg_attr(feature = "speed", inline(always))]
    fn push_number(&mut self, number: Number, len: usize) -> Result<()> {
        self.at += len;
        match number {
            Number::Int(value) => Ok(self.values.try_push(B::Value::from(value))?),
            Number::Float(value) => Ok(self.values.try_push(B::Value::from(value))?),
        }
    }

    /// Reads the string whose opening quote is next.
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

    /// Reads a string of any length, as [`string`](Self::string) does.
    #[cfg_attr(feature = "speed", inline(never))]
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
            self.unescaped.try_extend_from_slice(self.text.get(start..self.at).unwrap_or_default())?;
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
            Err(BadEscape::Surrogate(offset)) => ("Invalid surrogate pair of \\uXXXX escapes", offset),
        };
        self.at += offset;
        Err(self.fail(what))
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte, or 0 at the end, with which nothing begins either.
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space and tells what comes then, as [`peek`](Self::peek) does.
    #[inline]
    fn peek_after_space(&mut self) -> u8 {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                next => return next,
            }
        }
    }

    /// The error of what was found here. Newlines are only ever white space, so those in front of it tell the line.
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
