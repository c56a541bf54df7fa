//! Bounds-checked reading of the serialised form: little-endian numbers, texts and counts.
#![forbid(unsafe_code)]

use ferrite_core::abi::DLDataType;
use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

use super::Text;

/// A position in the serialised form, in a section that errors name.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    section: &'static str,
}

/// The error for a malformed section.
#[cold]
pub(super) fn malformed(section: &str) -> Error {
    plain_error!(INTERNAL_ERROR, "Invalid VM file format in the {} section.", section; "bad {} section", section)
}

impl<'a> Reader<'a> {
    /// Starts at the beginning.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0, section: "header" }
    }

    /// Begins a section.
    pub(super) fn enter(&mut self, section: &'static str) {
        self.section = section;
    }

    /// The position in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The error for the section.
    pub(super) fn malformed(&self) -> Error {
        malformed(self.section)
    }

    /// Reads bytes.
    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8]> {
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

    pub(super) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_le_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(super) fn dtype(&mut self) -> Result<DLDataType> {
        let [code, bits, low, high] = self.array()?;
        Ok(DLDataType { code, bits, lanes: u16::from_le_bytes([low, high]) })
    }

    /// Reads a number that counts or measures something: a malformed section if it is negative or no size.
    pub(super) fn size(&mut self) -> Result<usize> {
        usize::try_from(self.u64()?).map_err(|_| self.malformed())
    }

    /// Reads the number of items that follow, each of which takes at least `item_bytes`.
    pub(super) fn count(&mut self, item_bytes: usize) -> Result<usize> {
        let count = self.size()?;
        let rest = self.bytes.len() - self.at;
        if count > rest / item_bytes { Err(self.malformed()) } else { Ok(count) }
    }

    /// Reads a length and a text of that many bytes.
    pub(super) fn text(&mut self) -> Result<Text> {
        let len = self.size()?;
        let start = self.at;
        self.bytes(len)?;
        Ok(Text { start, len })
    }

    /// Reads the number of 64-bit words that follow, and gives the words.
    pub(super) fn words(&mut self) -> Result<Words<'a>> {
        let count = self.count(8)?;
        Ok(Words(self.bytes(8 * count)?))
    }
}

/// 64-bit words that lie unaligned in the serialised form.
#[derive(Clone, Copy)]
pub(super) struct Words<'a>(&'a [u8]);

impl Words<'_> {
    /// The number of words.
    pub(super) fn len(self) -> usize {
        self.0.len() / 8
    }

    /// The word at `index`.
    pub(super) fn get(self, index: usize) -> Option<i64> {
        let bytes = self.0.get(index.checked_mul(8)?..)?;
        bytes.first_chunk().map(|word| i64::from_le_bytes(*word))
    }
}
