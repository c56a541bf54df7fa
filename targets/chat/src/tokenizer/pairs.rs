//! Tokenizers of byte-pair encoding.

use std::collections::HashMap;
use std::ops::Range;

use super::merge::Merges;
use super::split::{self, Normalizer, Splitter};

/// A tokenizer of byte-pair encoding.
#[derive(Debug)]
pub(super) struct Pairs {
    pub(super) added: Vec<Added>,
    pub(super) normalizers: Vec<Normalizer>,
    pub(super) splitters: Vec<Splitter>,
    pub(super) merges: Merges,
    /// Bytes of each token; empty for special tokens and for numbers without a token.
    pub(super) texts: Vec<Box<[u8]>>,
    /// Whether the space before the first word is not part of a string.
    pub(super) strips_first_space: bool,
}

/// A token that is found in text before anything else.
#[derive(Clone, Debug)]
pub(super) struct Added {
    pub(super) id: u32,
    pub(super) text: String,
    pub(super) is_special: bool,
    pub(super) strips_left: bool,
    pub(super) strips_right: bool,
}

impl Pairs {
    /// Encodes the text between added tokens. Special ones are not found in messages.
    pub(super) fn encode(&self, text: &str, messages: &[Range<usize>], is_start: bool) -> Vec<u32> {
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
        messages: &[Range<usize>],
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
