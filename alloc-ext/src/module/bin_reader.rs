//! Bounds-checked reading of the little-endian byte stream inside `__tvm_ffi__library_bin`.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::plain_error;

/// Bytes of the length field before the stream. Offsets in messages count from the symbol, so that a hex dump
/// of the symbol can be read beside them.
pub(crate) const LENGTH_BYTES: usize = 8;

/// A position in the stream. Copying one is a bookmark.
#[derive(Clone, Copy)]
pub(crate) struct BinReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

/// A run of little-endian 64-bit words that lie unaligned in the stream.
#[derive(Clone, Copy)]
pub(crate) struct WordList<'a> {
    bytes: &'a [u8],
}

/// The number that a word holds; the largest one in place of one that no address has.
fn number(word: &[u8; 8]) -> usize {
    usize::try_from(u64::from_le_bytes(*word)).unwrap_or(usize::MAX)
}

impl<'a> WordList<'a> {
    /// Number of words.
    pub(crate) fn len(self) -> usize {
        self.bytes.len() / 8
    }

    /// The word at `index`, or none past the end.
    pub(crate) fn get(self, index: usize) -> Option<usize> {
        let start = index.checked_mul(8)?;
        self.bytes.get(start..)?.first_chunk().map(number)
    }
}

impl<'a> BinReader<'a> {
    /// Reads `bytes`, the stream after its length field.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        BinReader { bytes, position: 0 }
    }

    /// Where the next read starts, counted from the symbol.
    pub(crate) fn offset(&self) -> usize {
        self.position.saturating_add(LENGTH_BYTES)
    }

    fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        let found = self.bytes.get(self.position..).and_then(|rest| rest.get(..len));
        let Some(found) = found else {
            return Err(plain_error!(
                INTERNAL_ERROR,
                "Malformed library binary: {} at offset {} needs {} bytes but {} are left",
                what,
                self.offset(),
                len,
                self.remaining()
            ));
        };
        self.position += found.len();
        Ok(found)
    }

    /// Reads one word; `what` names it in the error.
    pub(crate) fn word(&mut self, what: &str) -> Result<usize> {
        let start = *self;
        let bytes = self.take(8, what)?;
        match bytes.first_chunk() {
            Some(word) => Ok(number(word)),
            None => Err(start.too_short(what)),
        }
    }

    /// Reads a length and that many bytes.
    pub(crate) fn bytes(&mut self, what: &str) -> Result<&'a [u8]> {
        let len = self.word(what)?;
        self.take(len, what)
    }

    /// Reads a count and that many words, without copying them.
    pub(crate) fn words(&mut self, what: &str) -> Result<WordList<'a>> {
        let count = self.word(what)?;
        // A count whose size in bytes overflows is refused by `take` just as one that is merely too large.
        let bytes = self.take(count.saturating_mul(8), what)?;
        Ok(WordList { bytes })
    }

    fn too_short(&self, what: &str) -> ferrite_core::error::Error {
        plain_error!(
            INTERNAL_ERROR,
            "Malformed library binary: {} at offset {} is cut short",
            what,
            self.offset()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_words_and_bytes_in_order() {
        let mut stream = [0u8; 8 + 8 + 3];
        stream[0] = 7;
        stream[8] = 3;
        stream[16..].copy_from_slice(b"abc");
        let mut reader = BinReader::new(&stream);
        assert_eq!(reader.word("first").unwrap(), 7);
        assert_eq!(reader.bytes("second").unwrap(), b"abc");
        assert_eq!(reader.offset(), stream.len() + LENGTH_BYTES);
    }

    #[test]
    fn words_are_read_in_place() {
        let mut stream = [0u8; 24];
        stream[0] = 2;
        stream[8] = 5;
        stream[17] = 1;
        let words = BinReader::new(&stream).words("list").unwrap();
        assert_eq!((words.len(), words.get(0), words.get(1), words.get(2)), (2, Some(5), Some(256), None));
        assert_eq!(words.get(usize::MAX), None);
    }

    #[test]
    fn truncation_names_field_and_offset() {
        let mut reader = BinReader::new(&[1, 0, 0]);
        let error = reader.word("row pointer count").unwrap_err();
        assert_eq!(
            error.message(),
            b"Malformed library binary: row pointer count at offset 8 needs 8 bytes but 3 are left"
        );
        assert_eq!(error.kind(), b"InternalError");
    }

    #[test]
    fn absurd_lengths_are_refused() {
        for len in [9u64, u64::MAX, 1 << 61, i64::MAX as u64] {
            let stream = len.to_le_bytes();
            assert!(BinReader::new(&stream).bytes("payload").is_err());
            assert!(BinReader::new(&stream).words("list").is_err());
        }
    }
}
