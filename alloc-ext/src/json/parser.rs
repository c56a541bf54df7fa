//! The parser: one pass over the text, with a stack of its own for what is open.
#![forbid(unsafe_code)]

use core::mem;

use ferrite_core::any::Any;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::plain_error;
use ferrite_core::string::String;

use super::number;
use super::text::{self, BadEscape};
use crate::containers::{Array, ArrayObject, Map, MapObject};

/// Makes values of JSON text, of any encoding that leaves ASCII alone.
///
/// Allocation: the objects of the result, each in its final size, and buffers that grow with the depth.
///
/// # Errors
///
/// ValueError that says what was expected where, as Python's json module does: line, column and byte offset.
/// MemoryError.
///
/// # Upstream
///
/// `json::Parse` in `extra/json.h`. That one recurses, so deep documents end the process.
pub fn parse(text: &[u8]) -> Result<Any> {
    let mut parser =
        Parser { text, at: 0, values: Buffer::new(), open: Buffer::new(), unescaped: Buffer::new() };
    parser.document()
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    /// What the open containers have so far: elements of arrays; keys and values of objects in turn.
    values: Buffer<Any>,
    open: Buffer<Open>,
    /// Room for strings with escapes.
    unescaped: Buffer<u8>,
}

/// A container whose end has not come yet.
#[derive(Clone, Copy)]
enum Open {
    /// The place of its first element among the values.
    Array(usize),
    /// The place of its first key among the values.
    Object(usize),
}

/// What the start of a value turned out to be.
enum Start {
    Complete(Any),
    /// A container was opened, whose first value comes next.
    Opened,
}

impl Parser<'_> {
    fn document(&mut self) -> Result<Any> {
        loop {
            if let Start::Complete(value) = self.start_value()?
                && let Some(document) = self.complete(value)?
            {
                return Ok(document);
            }
        }
    }

    /// Reads up to where a value is complete or another one must come.
    fn start_value(&mut self) -> Result<Start> {
        match self.peek_after_space() {
            Some(b'"') => self.string().map(Start::Complete),
            Some(b'{') => self.start_object(),
            Some(b'[') => self.start_array(),
            Some(b't') => self.word("true", true.into()),
            Some(b'f') => self.word("false", false.into()),
            Some(b'n') => self.word("null", Any::NONE),
            _ => self.number(),
        }
    }

    /// Puts a value into the container that is open, and that one into its own where it ends; gives back the value that
    /// no container is open for.
    fn complete(&mut self, mut value: Any) -> Result<Option<Any>> {
        while let Some(open) = self.open.last().copied() {
            self.values.try_push(value)?;
            let (end, is_object) = match open {
                Open::Array(_) => (b']', false),
                Open::Object(_) => (b'}', true),
            };
            match self.peek_after_space() {
                Some(b',') => {
                    self.at += 1;
                    self.next_in(is_object)?;
                    return Ok(None);
                }
                Some(byte) if byte == end => self.at += 1,
                _ => return Err(self.fail("Expecting ',' delimiter", self.at)),
            }
            value = match open {
                Open::Array(first) => self.finish_array(first)?,
                Open::Object(first) => self.finish_object(first)?,
            };
            self.open.pop();
        }
        match self.peek_after_space() {
            None => Ok(Some(value)),
            Some(_) => Err(self.fail("Extra data", self.at)),
        }
    }

    /// What follows a comma.
    fn next_in(&mut self, is_object: bool) -> Result<()> {
        if self.peek_after_space().is_none() {
            return Err(self.fail("Syntax error near", self.at));
        }
        if is_object { self.key() } else { Ok(()) }
    }

    fn start_array(&mut self) -> Result<Start> {
        self.at += 1;
        if self.peek_after_space() == Some(b']') {
            self.at += 1;
            return Array::<Any>::new().map(|array| Start::Complete(array.into_untyped().into_any()));
        }
        self.open.try_push(Open::Array(self.values.len()))?;
        Ok(Start::Opened)
    }

    fn start_object(&mut self) -> Result<Start> {
        self.at += 1;
        if self.peek_after_space() == Some(b'}') {
            self.at += 1;
            return Map::<Any, Any>::new().map(|map| Start::Complete(map.into_untyped().into_any()));
        }
        self.open.try_push(Open::Object(self.values.len()))?;
        self.key()?;
        Ok(Start::Opened)
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<()> {
        if self.peek() != Some(b'"') {
            return Err(self.fail("Expecting property name enclosed in double quotes", self.at));
        }
        let key = self.string()?;
        self.values.try_push(key)?;
        if self.peek_after_space() != Some(b':') {
            return Err(self.fail("Expecting ':' delimiter", self.at));
        }
        self.at += 1;
        Ok(())
    }

    fn finish_array(&mut self, first: usize) -> Result<Any> {
        let array = ArrayObject::of_taken(self.values.get_mut(first..).unwrap_or_default())?;
        self.values.truncate(first);
        Ok(array.into_any())
    }

    fn finish_object(&mut self, first: usize) -> Result<Any> {
        let cells = self.values.get_mut(first..).unwrap_or_default();
        let (entries, _) = cells.as_chunks_mut::<2>();
        let mut map = MapObject::with_capacity(entries.len())?;
        for [key, value] in entries {
            map.insert(mem::take(key), mem::take(value))?;
        }
        self.values.truncate(first);
        Ok(map.into_any())
    }

    fn word(&mut self, word: &str, value: Any) -> Result<Start> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fail("Expecting value", self.at));
        }
        self.at += word.len();
        Ok(Start::Complete(value))
    }

    fn number(&mut self) -> Result<Start> {
        match number::read(self.rest())? {
            Some((value, len)) => {
                self.at += len;
                Ok(Start::Complete(value))
            }
            None => Err(self.fail("Expecting value", self.at)),
        }
    }

    /// Reads the string whose opening quote is next.
    fn string(&mut self) -> Result<Any> {
        let content = self.text.get(self.at + 1..).unwrap_or_default();
        let len = text::literal_len(content);
        let (plain, rest) = content.split_at(len);
        if rest.first() == Some(&b'"') {
            self.at += len + 2;
            return String::from_bytes(plain).map(String::into_any);
        }
        self.escaped_string()
    }

    /// Reads a string that is not plain text up to its end.
    fn escaped_string(&mut self) -> Result<Any> {
        let start = self.at;
        self.at += 1;
        self.unescaped.clear();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let (plain, special) = rest.split_at(text::literal_len(rest));
            self.unescaped.try_extend_from_slice(plain)?;
            self.at += plain.len();
            match special.first() {
                None => return Err(self.fail("Unterminated string starting at", start)),
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fail("Invalid control character at", self.at)),
            }
        }
        self.at += 1;
        String::from_bytes(&self.unescaped).map(String::into_any)
    }

    fn escape(&mut self) -> Result<()> {
        match text::read_escape(self.rest()) {
            Ok((character, len)) => {
                self.at += len;
                self.unescaped.try_extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes())
            }
            Err(BadEscape::Unknown) => Err(self.fail("Invalid \\escape", self.at + 1)),
            Err(BadEscape::Digits(offset)) => Err(self.fail("Invalid \\uXXXX escape", self.at + offset)),
            Err(BadEscape::Surrogate(offset)) => {
                Err(self.fail("Invalid surrogate pair of \\uXXXX escapes", self.at + offset))
            }
        }
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips white space and tells what comes then.
    #[inline]
    fn peek_after_space(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                next => return next,
            }
        }
    }

    /// The error of what was found at `at`. Newlines are only ever white space, so those in front of it tell the line.
    #[cold]
    fn fail(&self, what: &str, at: usize) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        plain_error!(VALUE_ERROR, "{}: line {} column {} (char {})", what, line, at - line_start + 1, at)
    }
}
