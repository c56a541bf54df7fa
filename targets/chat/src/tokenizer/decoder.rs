//! Text of tokens that come one by one.

use std::mem::take;

use ferrite::Result;
use tokenizers::tokenizer::step_decode_stream;

use super::file::{TokenizerFile, refused};
use super::{Kind, Tokenizer};

/// Decoder of the tokens of a string as they come. Bytes of an incomplete character are held back.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    /// Bytes of a character that is not complete.
    bytes: Vec<u8>,
    /// Tokens that the text of the next one depends on, and the text of the first of them.
    tokens: Vec<u32>,
    prefix: String,
    prefix_len: usize,
}

impl Decoder {
    /// Returns the text that a token makes certain; an empty one while a character is not complete.
    ///
    /// # Errors
    /// ValueError for a token that the tokenizer's decoder refuses.
    pub fn push(&mut self, tokenizer: &Tokenizer, token: u32) -> Result<String> {
        match &tokenizer.0 {
            Kind::Bytes => Ok(self.push_byte(token)),
            Kind::File(file) => self.push_token(file, token),
        }
    }

    fn push_byte(&mut self, token: u32) -> String {
        self.bytes.extend(u8::try_from(token));
        if is_incomplete(&self.bytes) {
            return String::new();
        }
        String::from_utf8_lossy(&take(&mut self.bytes)).into_owned()
    }

    fn push_token(&mut self, file: &TokenizerFile, token: u32) -> Result<String> {
        let Decoder { tokens, prefix, prefix_len, .. } = self;
        let text =
            step_decode_stream(file.library(), vec![token], true, tokens, prefix, prefix_len);
        text.map(Option::unwrap_or_default).map_err(refused)
    }
}

/// Returns whether bytes begin a character, and may be completed.
fn is_incomplete(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.valid_up_to() == 0 && error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(bytes: &[u8]) -> Vec<String> {
        let (mut decoder, tokenizer) = (Decoder::default(), Tokenizer::bytes());
        bytes.iter().map(|byte| decoder.push(&tokenizer, u32::from(*byte)).unwrap()).collect()
    }

    #[test]
    fn characters_are_never_cut() {
        assert_eq!(pieces("aé€b".as_bytes()), ["a", "", "é", "", "", "€", "b"]);
    }

    #[test]
    fn bytes_that_are_no_character_are_replaced() {
        assert_eq!(pieces(b"a\xFFb"), ["a", "\u{FFFD}", "b"]);
        assert_eq!(pieces(b"\xE2\x82A"), ["", "", "\u{FFFD}A"]);
    }
}
