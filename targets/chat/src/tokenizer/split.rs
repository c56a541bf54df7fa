//! Text before merges: normalizers change it, and pre-tokenizers split it into words.

use fancy_regex::Regex;
use unicode_normalization::UnicodeNormalization;

use super::bytes;

/// A change of the whole text.
#[derive(Debug)]
pub(super) enum Normalizer {
    /// Unicode's form NFC.
    Composed,
    /// Unicode's form NFKC.
    Compatible,
    Lowercase,
    Prepend(String),
    Replace(Regex, String),
}

impl Normalizer {
    pub(super) fn apply(&self, text: &str) -> String {
        match self {
            Normalizer::Composed => text.nfc().collect(),
            Normalizer::Compatible => text.nfkc().collect(),
            Normalizer::Lowercase => text.to_lowercase(),
            Normalizer::Prepend(prefix) => format!("{prefix}{text}"),
            Normalizer::Replace(pattern, by) => {
                pattern.replace_all(text, fancy_regex::NoExpand(by)).into_owned()
            }
        }
    }
}

/// A step that splits words further.
#[derive(Debug)]
pub(super) enum Splitter {
    /// Splits at the matches of a pattern.
    Pattern { pattern: Regex, behavior: Behavior, is_inverted: bool },
    /// Replaces bytes by the characters of byte-level vocabularies.
    Bytes { adds_space: bool },
    /// Replaces spaces, and may split before them.
    Spaces { replacement: String, prepends: Prepends, splits: bool },
}

/// Treatment of the matches of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behavior {
    Isolated,
    Removed,
    WithPrevious,
    WithNext,
    Contiguous,
}

/// Condition for a replaced space before a string that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prepends {
    Always,
    First,
    Never,
}

/// Splits a string into words. `is_start` is whether it begins the whole string.
pub(super) fn split(splitters: &[Splitter], text: String, is_start: bool) -> Vec<String> {
    let mut words = vec![text];
    for splitter in splitters {
        let parts = words
            .iter()
            .enumerate()
            .flat_map(|(at, word)| splitter.apply(word, is_start && at == 0));
        words = parts.collect();
    }
    words
}

impl Splitter {
    fn apply(&self, word: &str, is_first: bool) -> Vec<String> {
        match self {
            Splitter::Pattern { pattern, behavior, is_inverted } => {
                join(&cut(pattern, word, *is_inverted), *behavior)
            }
            Splitter::Bytes { adds_space } => {
                let characters = bytes::characters();
                let space = if *adds_space && !word.starts_with(' ') { " " } else { "" };
                vec![
                    space
                        .bytes()
                        .chain(word.bytes())
                        .map(|byte| characters[usize::from(byte)])
                        .collect(),
                ]
            }
            Splitter::Spaces { replacement, prepends, splits } => {
                let mut text = word.replace(' ', replacement);
                let is_wanted =
                    *prepends == Prepends::Always || (*prepends == Prepends::First && is_first);
                if is_wanted && !text.starts_with(replacement.as_str()) {
                    text.insert_str(0, replacement);
                }
                if *splits { before_each(&text, replacement) } else { vec![text] }
            }
        }
    }
}

/// Splits before each occurrence of a string.
fn before_each(text: &str, mark: &str) -> Vec<String> {
    let mut starts: Vec<_> =
        text.match_indices(mark).map(|(at, _)| at).filter(|at| *at > 0).collect();
    starts.push(text.len());
    let mut at = 0;
    let word = |end: usize| text[std::mem::replace(&mut at, end)..end].to_string();
    starts.into_iter().map(word).filter(|word| !word.is_empty()).collect()
}

/// Returns the parts of a string, each with whether it is a match. A pattern that gives up,
/// because it would take too long, leaves the rest in one part.
fn cut<'a>(pattern: &Regex, text: &'a str, is_inverted: bool) -> Vec<(&'a str, bool)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for found in pattern.find_iter(text).map_while(Result::ok) {
        parts.push((&text[at..found.start()], is_inverted));
        parts.push((found.as_str(), !is_inverted));
        at = found.end();
    }
    parts.push((&text[at..], is_inverted));
    parts.retain(|(part, _)| !part.is_empty());
    parts
}

fn join(parts: &[(&str, bool)], behavior: Behavior) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_match = None;
    for (part, is_match) in parts {
        let joins = match behavior {
            Behavior::Isolated | Behavior::Removed => false,
            Behavior::WithPrevious => *is_match && was_match == Some(false),
            Behavior::WithNext => !*is_match && was_match == Some(true),
            Behavior::Contiguous => was_match == Some(*is_match),
        };
        was_match = Some(*is_match);
        match words.last_mut() {
            _ if behavior == Behavior::Removed && *is_match => {}
            Some(last) if joins => last.push_str(part),
            _ => words.push((*part).to_string()),
        }
    }
    words
}
