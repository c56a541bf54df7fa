//! A conversation: its tokens, and the reply that is being made.

use ferrite::{Error, Result};

use crate::sampling::{Sampler, Sampling};
use crate::stream::TextStream;
use crate::tokenizer::{Decoder, Tokenizer};

/// Settings of a conversation.
#[derive(Clone, Debug, Default)]
pub struct ConversationOptions {
    /// System message; `None` for that of the configuration.
    pub system: Option<String>,
    /// Sampling; `None` for that of the configuration.
    pub sampling: Option<Sampling>,
    /// Maximum number of tokens of a reply.
    pub max_tokens: Option<usize>,
    /// Further strings that end a reply.
    pub stop: Vec<String>,
}

/// Why a reply ended.
#[derive(Clone, Debug)]
pub enum Reason {
    /// A stop token or a stop string came.
    Stop,
    /// The reply has as many tokens as were allowed.
    Length,
    /// The conversation fills the model's context window. Reset it, or begin another.
    Context,
    /// The cache has no space left, because of other conversations. A later message begins by
    /// reading the conversation again.
    CacheFull,
    /// [`Engine::cancel`](super::Engine::cancel) was called.
    Cancelled,
    /// The model failed. A later message begins by reading the conversation again.
    Failed(Error),
}

impl Reason {
    /// Returns the reason in a word.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Stop => "stop",
            Reason::Length => "length",
            Reason::Context => "context",
            Reason::CacheFull => "cache-full",
            Reason::Cancelled => "cancelled",
            Reason::Failed(_) => "failed",
        }
    }
}

/// State of a conversation. The first `cached` of its tokens are in the cache.
pub(super) struct Conversation {
    pub(super) system: String,
    pub(super) max_tokens: Option<usize>,
    pub(super) stops: Vec<String>,
    pub(super) sampler: Sampler,
    /// Tokens of the conversation so far.
    pub(super) tokens: Vec<u32>,
    pub(super) cached: usize,
    /// Sequence of the cache; `None` before the first step, and after the tokens were removed.
    pub(super) sequence: Option<i64>,
    /// Number of tokens at the beginning that other conversations may have, too.
    pub(super) shared: usize,
    pub(super) reply: Option<ReplyState>,
}

/// The beginning of conversations in a sequence, from which their sequences are forked.
pub(super) struct Prefix {
    pub(super) tokens: Vec<u32>,
    pub(super) sequence: i64,
}

/// A reply that is being made.
pub(super) struct ReplyState {
    decoder: Decoder,
    stream: TextStream,
    /// Number of tokens before the reply.
    start: usize,
    /// Position in the reply's text at which each token ends. The last ones may have no text yet.
    ends: Vec<usize>,
    /// Number of tokens that have.
    decoded: usize,
}

impl ReplyState {
    pub(super) fn new(stops: &[String], start: usize) -> ReplyState {
        let (decoder, stream) = (Decoder::default(), TextStream::new(stops));
        ReplyState { decoder, stream, start, ends: Vec::new(), decoded: 0 }
    }

    pub(super) fn token_count(&self) -> usize {
        self.ends.len()
    }

    /// Adds a token. Returns the text that it makes certain.
    fn push(&mut self, tokenizer: &Tokenizer, token: u32) -> Result<String> {
        let text = self.decoder.push(tokenizer, token)?;
        self.ends.push(usize::MAX);
        if !text.is_empty() {
            // The tokens without text so far are parts of its first character.
            let before = self.decoded.checked_sub(1).map_or(0, |last| self.ends[last]);
            self.ends[self.decoded..].fill(before + text.len());
            self.decoded = self.ends.len();
        }
        Ok(self.stream.push(&text))
    }

    /// Returns whether it has tokens: the next step is then a decode step.
    pub(super) fn has_begun(&self) -> bool {
        !self.ends.is_empty()
    }
}

impl Conversation {
    /// Returns the tokens that are not in the cache yet.
    pub(super) fn pending(&self) -> &[u32] {
        &self.tokens[self.cached..]
    }

    pub(super) fn is_decoding(&self) -> bool {
        self.pending().len() == 1 && self.reply.as_ref().is_some_and(ReplyState::has_begun)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.reply.is_some() && !self.is_decoding()
    }

    /// Chooses the next token of the reply. Returns the text that it makes certain, and the reason
    /// if the reply ended.
    ///
    /// # Errors
    /// Errors of [`Sampler::choose`] and [`Decoder::push`].
    pub(super) fn advance(
        &mut self,
        logits: &mut [f32],
        rules: &Rules<'_>,
    ) -> Result<(String, Option<Reason>)> {
        let token = self.sampler.choose(logits)?;
        let Some(reply) = &mut self.reply else { return Ok(Default::default()) };
        if rules.stop_tokens.contains(&token) {
            return Ok((reply.stream.finish(), Some(Reason::Stop)));
        }
        let mut text = reply.push(rules.tokenizer, token)?;
        self.tokens.push(token);
        if let Some(stop) = reply.stream.stop() {
            let kept = reply.ends.iter().take_while(|end| **end <= stop).count();
            self.tokens.truncate(reply.start + kept);
            return Ok((text, Some(Reason::Stop)));
        }
        let reason = match self.max_tokens {
            Some(most) if reply.ends.len() >= most => Some(Reason::Length),
            _ => rules
                .context_window
                .filter(|window| self.tokens.len() > *window)
                .map(|_| Reason::Context),
        };
        if reason.is_some() {
            text.push_str(&reply.stream.finish());
        }
        Ok((text, reason))
    }

    /// Ends the reply, and returns the text that was held back.
    pub(super) fn end(&mut self) -> String {
        self.reply.take().map(|mut reply| reply.stream.finish()).unwrap_or_default()
    }

    /// Forgets that tokens are in the cache. Returns the sequence, which is to be removed.
    pub(super) fn detach(&mut self) -> Option<i64> {
        self.cached = 0;
        self.sequence.take()
    }
}

/// Parts of the model that end replies and turn tokens into text.
pub(super) struct Rules<'a> {
    pub(super) tokenizer: &'a Tokenizer,
    pub(super) stop_tokens: &'a [u32],
    pub(super) context_window: Option<usize>,
}
