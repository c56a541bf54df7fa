//! Bounds-checked reader of serialised executables: little-endian numbers, strings and counts.
#![forbid(unsafe_code)]

use ferrite_core::abi::DLDataType;
use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

/// A position in a serialised executable, and the name of the current section for error messages.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    section: &'static str,
}

/// Returns the InternalError for a malformed section.
#[cold]
pub(super) fn malformed(section: &str) -> Error {
    plain_error!(INTERNAL_ERROR, "Invalid VM file format in the {} section.", section; "bad {} section", section)
}

impl<'a> Reader<'a> {
    /// Creates a reader at the beginning.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, section: "header" }
    }

    /// Begins a section: later errors name it.
    pub(crate) fn enter(&mut self, section: &'static str) {
        self.section = section;
    }

    /// Returns the position in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the InternalError that the current section is malformed.
    pub(crate) fn malformed(&self) -> Error {
        malformed(self.section)
    }

    /// Reads `len` bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = rest.get(..len).ok_or_else(|| self.malformed())?;
        self.at += len;
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.bytes(N)?.first_chunk() {
            Some(array) => Ok(*array),
            None => Err(self.malformed()),
        }
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(crate) fn dtype(&mut self) -> Result<DLDataType> {
        let [code, bits, low, high] = self.array()?;
        Ok(DLDataType { code, bits, lanes: u16::from_le_bytes([low, high]) })
    }

    /// Reads a 64-bit size or count. Returns an error if it does not fit into `usize`.
    pub(crate) fn size(&mut self) -> Result<usize> {
        usize::try_from(self.u64()?).map_err(|_| self.malformed())
    }

    /// Reads the number of items that follow, each of which takes at least `item_bytes` bytes.
    pub(crate) fn count(&mut self, item_bytes: usize) -> Result<usize> {
        let count = self.size()?;
        let rest = self.bytes.len() - self.at;
        if count > rest / item_bytes { Err(self.malformed()) } else { Ok(count) }
    }

    /// Reads a string, preceded by its length. In builds with user callbacks it must be UTF-8:
    /// callbacks in Python do not take others.
    pub(crate) fn text(&mut self) -> Result<Text> {
        let len = self.size()?;
        let start = self.at;
        let bytes = self.bytes(len)?;
        if cfg!(feature = "all-builtins") && core::str::from_utf8(bytes).is_err() {
            return Err(self.malformed());
        }
        Ok(Text { start, len })
    }

    /// Reads 64-bit words, preceded by their number.
    pub(super) fn words(&mut self) -> Result<Words<'a>> {
        let count = self.count(8)?;
        Ok(Words(self.bytes(8 * count)?))
    }
}

/// A string within the source.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    start: usize,
    len: usize,
}

impl Text {
    pub(super) fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.start..self.start + self.len).unwrap_or_default()
    }
}

/// Unaligned 64-bit words of a serialised executable.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a>(&'a [u8]);

impl Words<'_> {
    /// Returns the number of words.
    pub(crate) fn len(self) -> usize {
        self.0.len() / 8
    }

    /// Returns the word at `index`; `None` if it is out of range.
    pub(crate) fn get(self, index: usize) -> Option<i64> {
        let bytes = self.0.get(index.checked_mul(8)?..)?;
        bytes.first_chunk().map(|word| i64::from_le_bytes(*word))
    }
}
