//! Tokenizers: text to tokens, and tokens to text.
//!
//! | file | purpose |
//! |---|---|
//! | `file` | a `tokenizer.json`, by the crate `tokenizers` |
//! | `decoder` | the text of tokens that come one by one |
#![forbid(unsafe_code)]

mod decoder;
mod file;

use std::path::Path;

use ferrite::{Result, error};

use crate::template::Piece;
pub use decoder::Decoder;
pub use file::FILE;
use file::TokenizerFile;

/// Conversion of text to tokens, and of tokens to text.
///
/// # Examples
/// ```
/// use ferrite_chat::Piece;
/// use ferrite_chat::tokenizer::Tokenizer;
///
/// let bytes = Tokenizer::bytes();
/// assert_eq!(bytes.encode(&[Piece::Message("hi".into())], true)?, [104, 105]);
/// assert_eq!(bytes.decode(&[104, 105])?, "hi");
/// # Ok::<(), ferrite::Error>(())
/// ```
#[derive(Debug)]
pub struct Tokenizer(Kind);

#[derive(Debug)]
enum Kind {
    Bytes,
    File(Box<TokenizerFile>),
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

    /// Reads the JSON text of a tokenizer, as the Python package `tokenizers` writes it. A
    /// post-processor is ignored: the configuration of the model has the tokens at the beginning of
    /// a conversation.
    ///
    /// # Errors
    /// ValueError for text that is malformed, and for parts that the crate `tokenizers` lacks.
    pub fn parse(text: &str) -> Result<Tokenizer> {
        TokenizerFile::parse(text).map(|file| Tokenizer(Kind::File(Box::new(file))))
    }

    /// Returns the tokens of the text of these pieces. `is_start` is whether nothing
    /// precedes it. Messages contain no special tokens: what looks like one is text.
    ///
    /// # Errors
    /// ValueError for text that the tokenizer has no tokens for.
    pub fn encode(&self, pieces: &[Piece], is_start: bool) -> Result<Vec<u32>> {
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
            Kind::Bytes => Ok(text.bytes().map(u32::from).collect()),
            Kind::File(file) => file.encode(&text, &messages, is_start),
        }
    }

    /// Returns the text of tokens. Special and unknown tokens have none, and bytes that are not a
    /// character have a replacement character.
    ///
    /// # Errors
    /// ValueError for tokens that the tokenizer's decoder refuses.
    pub fn decode(&self, tokens: &[u32]) -> Result<String> {
        match &self.0 {
            Kind::Bytes => {
                let bytes: Vec<u8> =
                    tokens.iter().filter_map(|token| u8::try_from(*token).ok()).collect();
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            Kind::File(file) => file.decode(tokens),
        }
    }
}

#[cfg(test)]
mod tests;
