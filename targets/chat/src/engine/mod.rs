//! The engine: conversations over one model and one cache.
//!
//! | file | purpose |
//! |---|---|
//! | `load` | model folders |
//! | `conversation` | tokens of a conversation, and its reply |
//! | `step` | steps of the model, for several conversations at once |
//! | `cache` | sequences of the cache: shared beginnings, and space for pages |
//! | `reply` | the text of one reply, as an iterator |
#![forbid(unsafe_code)]

mod cache;
mod conversation;
mod load;
mod reply;
mod step;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ferrite::{Result, ensure, error};

use crate::config::Config;
use crate::model::{CompiledModel, LanguageModel, Memory};
use crate::sampling::Sampler;
use crate::tokenizer::Tokenizer;
use conversation::{Conversation, Prefix, ReplyState};

pub use conversation::{ConversationOptions, Reason};
pub use load::{ModelFolder, Options};
pub use reply::Reply;

/// Conversations with a language model.
///
/// Each step of the engine is one step of the model for all replies that are being made.
/// Conversations that begin with the same system message share its part of the cache.
///
/// # Threads
/// One thread uses an engine. Engines of several threads may use models of the same library.
///
/// # Examples
/// Two conversations in a batch:
/// ```no_run
/// use ferrite_chat::{ConversationOptions, Engine, Event, Options};
///
/// fn main() -> ferrite::Result<()> {
///     let mut engine = Engine::load("model", &Options::default())?;
///     for message in ["Which colour has the sky?", "Count to five."] {
///         let chat = engine.chat(ConversationOptions::default())?;
///         engine.say(chat, message)?;
///     }
///     while let Some((chat, event)) = engine.next_event() {
///         match event {
///             Event::Text(text) => println!("{chat:?}: {text}"),
///             Event::End { reason, tokens } => println!("{chat:?}: {tokens} tokens, {}", reason.name()),
///         }
///     }
///     Ok(())
/// }
/// ```
pub struct Engine<M: LanguageModel = CompiledModel> {
    model: M,
    config: Config,
    tokenizer: Tokenizer,
    capacity: usize,
    conversations: BTreeMap<ConversationId, Conversation>,
    prefixes: Vec<Prefix>,
    events: VecDeque<(ConversationId, Event)>,
    next_id: u64,
    next_sequence: i64,
    logits: Vec<f32>,
    stats: Stats,
}

/// A conversation of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationId(u64);

/// A change of a reply.
#[derive(Clone, Debug)]
pub enum Event {
    /// Further text of the reply: whole characters.
    Text(String),
    /// The reply ended.
    End {
        /// Why it ended.
        reason: Reason,
        /// Number of tokens that were made, with those of a stop string.
        tokens: usize,
    },
}

/// Work of an engine so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Tokens of system messages, messages, and conversations that were read again.
    pub prefill_tokens: usize,
    /// Time of the steps that read them.
    pub prefill_time: Duration,
    /// Tokens of replies, except the first one of each.
    pub decode_tokens: usize,
    /// Time of the steps that made them.
    pub decode_time: Duration,
    /// Steps that made tokens of replies; each is for all replies at once.
    pub decode_steps: usize,
}

impl Stats {
    /// Returns the work since an earlier moment.
    pub fn since(&self, earlier: &Stats) -> Stats {
        Stats {
            prefill_tokens: self.prefill_tokens - earlier.prefill_tokens,
            prefill_time: self.prefill_time.saturating_sub(earlier.prefill_time),
            decode_tokens: self.decode_tokens - earlier.decode_tokens,
            decode_time: self.decode_time.saturating_sub(earlier.decode_time),
            decode_steps: self.decode_steps - earlier.decode_steps,
        }
    }
}

impl<M: LanguageModel> Engine<M> {
    /// Creates an engine over a model with space for `capacity` conversations. The model's cache
    /// needs [`sequences`](Engine::sequences) sequences.
    pub fn with_model(
        model: M,
        config: Config,
        tokenizer: Tokenizer,
        capacity: usize,
    ) -> Engine<M> {
        Engine {
            model,
            config,
            tokenizer,
            capacity,
            conversations: BTreeMap::new(),
            prefixes: Vec::new(),
            events: VecDeque::new(),
            next_id: 0,
            next_sequence: 0,
            logits: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Begins a conversation. Nothing is computed yet.
    ///
    /// # Errors
    /// RuntimeError if the engine has as many conversations as it has space for; ValueError for
    /// options out of range.
    pub fn chat(&mut self, options: ConversationOptions) -> Result<ConversationId> {
        let count = self.conversations.len();
        ensure!(
            count < self.capacity,
            RuntimeError,
            "the engine has {count} conversations, and no room for another"
        );
        ensure!(options.max_tokens != Some(0), ValueError, "a reply must have at least one token");
        let sampling = options.sampling.unwrap_or_else(|| self.config.sampling.clone());
        sampling.check()?;
        let conversation = Conversation {
            system: options.system.unwrap_or_else(|| self.config.template.system_message.clone()),
            max_tokens: options.max_tokens,
            stops: [self.config.template.stop_texts.as_slice(), &options.stop].concat(),
            sampler: Sampler::new(sampling),
            tokens: Vec::new(),
            cached: 0,
            sequence: None,
            shared: 0,
            reply: None,
        };
        let id = ConversationId(self.next_id);
        self.next_id += 1;
        self.conversations.insert(id, conversation);
        Ok(id)
    }

    /// Adds a user's message, whose reply the next steps make.
    ///
    /// # Errors
    /// ValueError for an unknown conversation, for one whose reply has not ended, for a message
    /// without tokens, for one that the tokenizer refuses, and for one that the rest of the context
    /// window has no space for. Nothing has changed then.
    pub fn say(&mut self, id: ConversationId, message: &str) -> Result<()> {
        let Engine { conversations, config, tokenizer, .. } = self;
        let conversation = conversations.get_mut(&id).ok_or_else(|| unknown(id))?;
        ensure!(
            conversation.reply.is_none(),
            ValueError,
            "the reply to the last message has not ended"
        );
        let template = &config.template;
        let is_first = conversation.tokens.is_empty();
        let mut tokens = Vec::new();
        let mut shared = conversation.shared;
        if is_first {
            let mut pieces = template.system(&conversation.system);
            let system = tokenizer.encode(&pieces, true)?;
            let has_system = !pieces.is_empty();
            pieces.extend(template.user(message, true, has_system));
            tokens.extend_from_slice(&template.prefix_tokens);
            tokens.extend(tokenizer.encode(&pieces, true)?);
            // Merges may join the end of the system message with the beginning of the message.
            let same = template
                .prefix_tokens
                .iter()
                .chain(&system)
                .zip(&tokens)
                .take_while(|(a, b)| a == b);
            shared = same.count();
        } else {
            tokens.extend(tokenizer.encode(&template.user(message, false, false), false)?);
        }
        ensure!(!tokens.is_empty(), ValueError, "the message is empty");
        let count = conversation.tokens.len() + tokens.len();
        if let Some(window) = config.context_window {
            ensure!(
                count < window,
                ValueError,
                "the message does not fit: with it the conversation has {count} tokens, and the context window {window}"
            );
        }
        conversation.tokens.append(&mut tokens);
        conversation.shared = shared;
        conversation.sampler.begin_reply();
        conversation.reply = Some(ReplyState::new(&conversation.stops, count));
        Ok(())
    }

    /// Ends a reply. Its text so far stays in the conversation. Does nothing if no reply is being
    /// made.
    pub fn cancel(&mut self, id: ConversationId) {
        self.end_reply(id, Reason::Cancelled);
    }

    /// Begins a conversation anew, with the same system message.
    ///
    /// # Errors
    /// ValueError for an unknown conversation.
    pub fn reset(&mut self, id: ConversationId) -> Result<()> {
        self.cancel(id);
        let conversation = self.conversations.get_mut(&id).ok_or_else(|| unknown(id))?;
        conversation.tokens.clear();
        let sequence = conversation.detach();
        self.remove_sequence(sequence);
        Ok(())
    }

    /// Ends a conversation, and frees its part of the cache.
    pub fn end(&mut self, id: ConversationId) {
        self.cancel(id);
        let sequence =
            self.conversations.remove(&id).and_then(|mut conversation| conversation.detach());
        self.remove_sequence(sequence);
    }

    /// Returns the next event of any conversation, and makes steps until there is one; `None` if no
    /// reply is being made.
    pub fn next_event(&mut self) -> Option<(ConversationId, Event)> {
        while self.events.is_empty() && self.step() {}
        self.events.pop_front()
    }

    /// Returns whether a reply is being made.
    pub fn is_busy(&self) -> bool {
        self.conversations.values().any(|conversation| conversation.reply.is_some())
    }

    /// Returns the tokens of a conversation; `None` for an unknown one.
    pub fn tokens(&self, id: ConversationId) -> Option<&[u32]> {
        self.conversations.get(&id).map(|conversation| conversation.tokens.as_slice())
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns the work so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Returns the memory of the model.
    pub fn memory(&self) -> Memory {
        self.model.memory()
    }
}

fn unknown(id: ConversationId) -> ferrite::Error {
    error!(ValueError, "the engine has no conversation {}", id.0)
}

#[cfg(test)]
mod tests;
