//! A `tokenizer.json`, by the crate `tokenizers`.

use std::collections::HashSet;
use std::ops::Range;

use ferrite::{Error, Result, error};

/// Name of the file in a model's folder.
pub const FILE: &str = "tokenizer.json";

/// A tokenizer of the crate `tokenizers`.
#[derive(Debug)]
pub(super) struct TokenizerFile {
    library: tokenizers::Tokenizer,
    special: HashSet<u32>,
    /// Text of a special token, in front of text that does not begin a conversation: some
    /// tokenizers add a space to the first word of all.
    lead: Option<String>,
}

impl TokenizerFile {
    /// Reads JSON text.
    ///
    /// # Errors
    /// ValueError for text that is malformed.
    pub(super) fn parse(text: &str) -> Result<TokenizerFile> {
        let library: tokenizers::Tokenizer =
            text.parse().map_err(|error| error!(ValueError, "{FILE}: {error}"))?;
        let mut special = library.get_added_tokens_decoder();
        special.retain(|_, token| token.special);
        let lead = special.iter().filter(|(_, token)| !token.rstrip && !token.lstrip);
        let lead = lead.min_by_key(|(id, _)| **id).map(|(_, token)| token.content.clone());
        Ok(TokenizerFile { library, special: special.into_keys().collect(), lead })
    }

    /// Returns the tokenizer of the crate.
    pub(super) fn library(&self) -> &tokenizers::Tokenizer {
        &self.library
    }

    /// Returns the text of tokens, without special ones.
    ///
    /// # Errors
    /// ValueError for tokens that the decoder refuses.
    pub(super) fn decode(&self, tokens: &[u32]) -> Result<String> {
        self.library.decode(tokens, true).map_err(refused)
    }

    /// Encodes text. A special token that lies in a message, if only in part, is cut after its
    /// first character, and the parts are encoded as text.
    ///
    /// # Errors
    /// ValueError for text that the tokenizer refuses.
    pub(super) fn encode(
        &self,
        text: &str,
        messages: &[Range<usize>],
        is_start: bool,
    ) -> Result<Vec<u32>> {
        let mut cuts = Vec::new();
        loop {
            let mut tokens = Vec::new();
            let mut forged = Vec::new();
            let mut start = 0;
            for end in cuts.iter().copied().chain([text.len()]) {
                let part = self.encode_part(&text[start..end], is_start && start == 0)?;
                for (token, place) in part {
                    let place = start + place.start..start + place.end;
                    if self.special.contains(&token) && overlaps(&place, messages) {
                        forged.push(first_character_end(text, &place));
                    }
                    tokens.push(token);
                }
                start = end;
            }
            if forged.is_empty() {
                return Ok(tokens);
            }
            cuts.extend(forged);
            cuts.sort_unstable();
        }
    }

    /// Encodes text with its special tokens. Returns each token with its place.
    fn encode_part(&self, text: &str, is_start: bool) -> Result<Vec<(u32, Range<usize>)>> {
        let lead = if is_start { "" } else { self.lead.as_deref().unwrap_or_default() };
        let encoding = self.library.encode([lead, text].concat(), false).map_err(refused)?;
        let tokens = encoding.get_ids().iter().zip(encoding.get_offsets());
        let tokens = tokens.skip(usize::from(!lead.is_empty()));
        Ok(tokens
            .map(|(token, (start, end))| {
                (*token, start.saturating_sub(lead.len())..end.saturating_sub(lead.len()))
            })
            .collect())
    }
}

fn overlaps(place: &Range<usize>, messages: &[Range<usize>]) -> bool {
    messages.iter().any(|message| place.start < message.end && message.start < place.end)
}

/// Returns the end of the first character that is not a space: a place of a token may begin with
/// spaces, which the token strips.
fn first_character_end(text: &str, place: &Range<usize>) -> usize {
    let token = &text[place.clone()];
    let trimmed = token.trim_start();
    place.end - trimmed.len() + trimmed.chars().next().map_or(0, char::len_utf8)
}

/// Returns the error of text or tokens that the crate refuses.
pub(super) fn refused(error: tokenizers::Error) -> Error {
    error!(ValueError, "the tokenizer refuses this: {error}")
}
