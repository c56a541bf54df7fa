//! Tokenizers: text to tokens, and tokens to bytes.
//!
//! | file | purpose |
//! |---|---|
//! | `file` | the parts of a `tokenizer.json` |
//! | `pairs` | tokenizers of byte-pair encoding: added tokens, and what is between them |
//! | `split` | text before merges: normalizers and pre-tokenizers |
//! | `merge` | byte-pair encoding of a word |
//! | `bytes` | the characters that stand for bytes |
#![forbid(unsafe_code)]

mod bytes;
mod file;
mod merge;
mod pairs;
mod split;

use std::path::Path;

use ferrite::{Result, error};

use crate::template::Piece;
use pairs::Pairs;

pub use file::FILE;

/// Converter of text to tokens, and of tokens to bytes.
///
/// # Examples
/// ```
/// use ferrite_chat::Piece;
/// use ferrite_chat::tokenizer::Tokenizer;
///
/// let bytes = Tokenizer::bytes();
/// assert_eq!(bytes.encode(&[Piece::Message("hi".into())], true), [104, 105]);
/// assert_eq!(bytes.decode(&[104, 105]), b"hi");
/// ```
#[derive(Debug)]
pub struct Tokenizer(Kind);

#[derive(Debug)]
enum Kind {
    Bytes,
    Pairs(Box<Pairs>),
}

impl Tokenizer {
    /// Returns the tokenizer of a vocabulary of 256 bytes.
    pub const fn bytes() -> Tokenizer {
        Tokenizer(Kind::Bytes)
    }

    /// Reads `tokenizer.json` in a model's folder. Without the file, a vocabulary of 256 tokens
    /// consists of bytes.
    ///
    /// # Errors
    /// RuntimeError if the file is missing or cannot be read; errors of
    /// [`parse`](Tokenizer::parse).
    pub fn read(folder: &Path, vocab_size: Option<usize>) -> Result<Tokenizer> {
        let path = folder.join(FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => Tokenizer::parse(&text),
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && vocab_size == Some(256) =>
            {
                Ok(Tokenizer::bytes())
            }
            Err(error) => Err(error!(RuntimeError, "cannot read {}: {error}", path.display())),
        }
    }

    /// Reads the JSON text of a tokenizer, as the Python package `tokenizers` writes it. Its model
    /// must be BPE. A post-processor is ignored: the configuration of the model has the tokens at
    /// the beginning of a conversation.
    ///
    /// # Errors
    /// ValueError for text that is malformed, and for a part that is not supported, which it names.
    pub fn parse(text: &str) -> Result<Tokenizer> {
        file::read(text).map(|pairs| Tokenizer(Kind::Pairs(Box::new(pairs))))
    }

    /// Returns the tokens of a string that consists of these pieces. `is_start` is whether nothing
    /// precedes it.
    pub fn encode(&self, pieces: &[Piece], is_start: bool) -> Vec<u32> {
        let mut text = String::new();
        let mut messages = Vec::new();
        for piece in pieces {
            let (Piece::Template(part) | Piece::Message(part)) = piece;
            if matches!(piece, Piece::Message(_)) {
                messages.push(text.len()..text.len() + part.len());
            }
            text.push_str(part);
        }
        match &self.0 {
            Kind::Bytes => text.bytes().map(u32::from).collect(),
            Kind::Pairs(pairs) => pairs.encode(&text, &messages, is_start),
        }
    }

    /// Returns the bytes of a token's text; none for special and unknown tokens. They need not be
    /// whole characters.
    pub fn text(&self, token: u32) -> &[u8] {
        match &self.0 {
            Kind::Bytes => {
                u8::try_from(token).map_or(&[], |byte| &bytes::ALL[usize::from(byte)..][..1])
            }
            Kind::Pairs(pairs) => usize::try_from(token)
                .ok()
                .and_then(|at| pairs.texts.get(at))
                .map_or(&[], |text| text),
        }
    }

    /// Returns whether strings begin without the space that their first token has.
    pub fn strips_first_space(&self) -> bool {
        matches!(&self.0, Kind::Pairs(pairs) if pairs.strips_first_space)
    }

    /// Returns the bytes of tokens.
    pub fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        let mut text: Vec<u8> =
            tokens.iter().flat_map(|token| self.text(*token)).copied().collect();
        if self.strips_first_space() && text.first() == Some(&b' ') {
            text.remove(0);
        }
        text
    }
}

#[cfg(test)]
mod tests;
