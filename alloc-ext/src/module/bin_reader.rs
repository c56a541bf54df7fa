//! Bounds-checked reader for the little-endian byte stream of `__tvm_ffi__library_bin`.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::{plain_ensure, plain_error};

/// Size of the length field before the stream. Offsets in error messages are relative to the
/// symbol, as in a hex dump.
pub(crate) const LENGTH_BYTES: usize = 8;

/// A position in the stream. A copy remembers the position.
#[derive(Clone, Copy)]
pub(crate) struct BinReader<'a> {
    rest: &'a [u8],
    /// Offset of `rest` from the symbol.
    offset: usize,
}

/// A sequence of unaligned little-endian 64-bit words in the stream, read in place.
pub(crate) struct WordList<'a> {
    what: &'static str,
    bytes: &'a [u8],
    offset: usize,
}

/// Reads a little-endian word from the first eight bytes. Returns `usize::MAX` if there are fewer
/// bytes, or the number does not fit in a `usize`.
pub(crate) fn number(bytes: &[u8]) -> usize {
    let word = bytes.first_chunk().map_or(u64::MAX, |word| u64::from_le_bytes(*word));
    usize::try_from(word).unwrap_or(usize::MAX)
}

impl WordList<'_> {
    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// Returns the word at `index`; `usize::MAX` past the end.
    pub(crate) fn get(&self, index: usize) -> usize {
        number(self.bytes.get(index.saturating_mul(8)..).unwrap_or_default())
    }

    /// Returns the word at `index`. Raises InternalError unless it is in `least..=most`.
    pub(crate) fn within(&self, index: usize, least: usize, most: usize) -> Result<usize> {
        let word = self.get(index);
        plain_ensure!(
            least <= word && word <= most,
            INTERNAL_ERROR,
            "Malformed library binary: {} at offset {} have {}, which is not in {} to {}",
            self.what,
            self.offset + index * 8,
            word,
            least,
            most
        );
        Ok(word)
    }
}

impl<'a> BinReader<'a> {
    /// Creates a reader for the stream, which is given without its length field.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        BinReader { rest: bytes, offset: LENGTH_BYTES }
    }

    /// Reads `len` bytes. Raises InternalError if fewer are left; `what` names the field in the
    /// message.
    pub(crate) fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        let Some((found, rest)) = self.rest.split_at_checked(len) else {
            return Err(plain_error!(
                INTERNAL_ERROR,
                "Malformed library binary: {} at offset {} needs {} bytes but {} are left",
                what,
                self.offset,
                len,
                self.rest.len()
            ));
        };
        *self = BinReader { rest, offset: self.offset + len };
        Ok(found)
    }

    /// Reads one word. Errors and `what` as for [`take`](Self::take).
    pub(crate) fn word(&mut self, what: &str) -> Result<usize> {
        self.take(8, what).map(number)
    }

    /// Reads a length and that many bytes. Errors and `what` as for [`take`](Self::take).
    pub(crate) fn bytes(&mut self, what: &str) -> Result<&'a [u8]> {
        let len = self.word(what)?;
        self.take(len, what)
    }

    /// Reads a count and that many words, without copying them. Errors and `what` as for
    /// [`take`](Self::take).
    pub(crate) fn words(&mut self, what: &'static str) -> Result<WordList<'a>> {
        let count = self.word(what)?;
        let offset = self.offset;
        // Saturation suffices: `take` refuses any size beyond the stream.
        let bytes = self.take(count.saturating_mul(8), what)?;
        Ok(WordList { what, bytes, offset })
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
        assert_eq!(reader.offset, stream.len() + LENGTH_BYTES);
    }

    #[test]
    fn words_are_read_in_place() {
        let mut stream = [0u8; 24];
        stream[0] = 2;
        stream[8] = 5;
        stream[17] = 1;
        let words = BinReader::new(&stream).words("list").unwrap();
        assert_eq!(
            (words.len(), words.get(0), words.get(1), words.get(2)),
            (2, 5, 256, usize::MAX)
        );
        assert_eq!(words.get(usize::MAX), usize::MAX);
    }

    #[test]
    fn truncation_names_field_and_offset() {
        let mut reader = BinReader::new(&[1, 0, 0]);
        let error = reader.word("row pointer count").unwrap_err();
        assert_eq!(
            error.message_bytes(),
            b"Malformed library binary: row pointer count at offset 8 needs 8 bytes but 3 are left"
        );
        assert_eq!(error.kind_bytes(), b"InternalError");
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
