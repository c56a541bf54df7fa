//! Tokenizers: text to tokens, and tokens to bytes.
//!
//! | file | purpose |
//! |---|---|
//! | `file` | the parts of a `tokenizer.json` |
//! | `split` | text before merges: normalizers and pre-tokenizers |
//! | `merge` | byte-pair encoding of a word |
//! | `bytes` | the characters that stand for bytes |
#![forbid(unsafe_code)]

mod bytes;
mod file;
mod merge;
mod split;

use std::collections::HashMap;
use std::path::Path;

use ferrite::{Result, error};

use crate::template::Piece;
use merge::Merges;
use split::{Normalizer, Splitter};

/// Name of the file in a model's folder.
pub const FILE: &str = "tokenizer.json";

/// Converts text to tokens, and tokens to the bytes of their text.
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

/// A tokenizer of byte-pair encoding.
#[derive(Debug)]
struct Pairs {
    added: Vec<Added>,
    normalizers: Vec<Normalizer>,
    splitters: Vec<Splitter>,
    merges: Merges,
    /// Bytes of each token; empty for special tokens and for numbers without a token.
    texts: Vec<Box<[u8]>>,
    /// Whether the space before the first word of a text is not part of it.
    strips_first_space: bool,
}

/// A token that is found in text before anything else.
#[derive(Clone, Debug)]
struct Added {
    id: u32,
    text: String,
    is_special: bool,
    strips_left: bool,
    strips_right: bool,
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

    /// Returns the tokens of a text that consists of these pieces. `is_start` is whether nothing
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

    /// Returns whether a text begins without the space that its first token has.
    pub fn strips_first_space(&self) -> bool {
        matches!(&self.0, Kind::Pairs(pairs) if pairs.strips_first_space)
    }

    /// Returns the bytes of a text.
    pub fn decode(&self, tokens: &[u32]) -> Vec<u8> {
        let mut text: Vec<u8> =
            tokens.iter().flat_map(|token| self.text(*token)).copied().collect();
        if self.strips_first_space() && text.first() == Some(&b' ') {
            text.remove(0);
        }
        text
    }
}

impl Pairs {
    /// Encodes the text between added tokens. Special ones are not found in messages.
    fn encode(&self, text: &str, messages: &[std::ops::Range<usize>], is_start: bool) -> Vec<u32> {
        let mut tokens = Vec::new();
        let mut words = HashMap::new();
        let mut at = 0;
        while let Some((start, added)) = self.next_added(text, at, messages) {
            let mut end = start + added.text.len();
            let before = &text[at..start];
            let before = if added.strips_left { before.trim_end() } else { before };
            self.encode_plain(before, is_start && at == 0, &mut words, &mut tokens);
            tokens.push(added.id);
            if added.strips_right {
                end = text.len() - text[end..].trim_start().len();
            }
            at = end;
        }
        self.encode_plain(&text[at..], is_start && at == 0, &mut words, &mut tokens);
        tokens
    }

    /// Returns the next added token from a position on: the leftmost, and of those the longest.
    fn next_added(
        &self,
        text: &str,
        from: usize,
        messages: &[std::ops::Range<usize>],
    ) -> Option<(usize, &Added)> {
        let is_allowed = |added: &Added, start: usize| {
            let end = start + added.text.len();
            !added.is_special
                || !messages.iter().any(|message| start < message.end && message.start < end)
        };
        let first = |added: &Added| {
            text[from..]
                .match_indices(&added.text)
                .map(|(at, _)| from + at)
                .find(|at| is_allowed(added, *at))
        };
        let found = self.added.iter().filter_map(|added| Some((first(added)?, added)));
        found.min_by_key(|(start, added)| (*start, usize::MAX - added.text.len()))
    }

    fn encode_plain(
        &self,
        text: &str,
        is_start: bool,
        words: &mut HashMap<String, Vec<u32>>,
        tokens: &mut Vec<u32>,
    ) {
        if text.is_empty() {
            return;
        }
        let text = self
            .normalizers
            .iter()
            .fold(text.to_string(), |text, normalizer| normalizer.apply(&text));
        for word in split::split(&self.splitters, text, is_start) {
            let encoded = words.entry(word).or_insert_with_key(|word| self.merges.encode(word));
            tokens.extend_from_slice(encoded);
        }
    }
}

#[cfg(test)]
mod tests;
