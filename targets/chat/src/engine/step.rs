//! Steps of the model, for several conversations at once.

use std::time::Instant;

use ferrite::Result;

use super::conversation::Rules;
use super::{ConversationId, Engine, Event, Reason};
use crate::model::{Appended, LanguageModel};

/// A conversation in a step, with the number of tokens that it appends.
type Part = (ConversationId, usize);

impl<M: LanguageModel> Engine<M> {
    /// Advances all replies: one step for those that have begun, which makes a token of each, then
    /// one step for messages that are being read. Returns whether it changed anything.
    ///
    /// An error of the model ends the replies of its step; other conversations go on.
    pub fn step(&mut self) -> bool {
        let decoded = self.decode();
        let read = self.read();
        decoded || read
    }

    /// Makes a token of each reply that has begun.
    fn decode(&mut self) -> bool {
        let ids = self.conversations.iter().filter(|(_, one)| one.is_decoding()).map(|(id, _)| *id);
        let mut parts: Vec<Part> = ids.map(|id| (id, 1)).collect();
        while let Some((last, _)) = parts.last().copied() {
            match self.has_room(&parts) {
                Ok(true) => break,
                Ok(false) => self.evict(last, Reason::CacheFull),
                Err(error) => self.evict(last, Reason::Failed(error)),
            }
            parts.pop();
        }
        if parts.is_empty() {
            return false;
        }
        let start = Instant::now();
        let outcome = self.forward(&parts);
        self.stats.decode_time += start.elapsed();
        self.stats.decode_tokens += parts.len();
        self.stats.decode_steps += 1;
        self.advance(&parts, outcome);
        true
    }

    /// Reads a chunk of the messages that wait.
    fn read(&mut self) -> bool {
        let ids: Vec<_> = self
            .conversations
            .iter()
            .filter(|(_, one)| one.is_waiting())
            .map(|(id, _)| *id)
            .collect();
        let mut parts: Vec<Part> = Vec::new();
        let mut left = self.chunk();
        let mut changed = false;
        for id in ids {
            if left == 0 {
                break;
            }
            if let Err(error) = self.attach(id) {
                self.evict(id, Reason::Failed(error));
                changed = true;
                continue;
            }
            let pending = self.conversations.get(&id).map_or(0, |one| one.pending().len());
            parts.push((id, pending.min(left)));
            let others_run =
                parts.len() > 1 || self.conversations.values().any(|one| one.is_decoding());
            match self.has_room(&parts) {
                Ok(true) => left -= pending.min(left),
                // Others may end and free pages.
                Ok(false) if others_run => {
                    parts.pop();
                    break;
                }
                Ok(false) => {
                    parts.pop();
                    self.evict(id, Reason::CacheFull);
                    changed = true;
                }
                Err(error) => {
                    parts.pop();
                    self.evict(id, Reason::Failed(error));
                    changed = true;
                }
            }
        }
        if parts.is_empty() {
            return changed;
        }
        let start = Instant::now();
        let outcome = self.forward(&parts);
        self.stats.prefill_time += start.elapsed();
        self.stats.prefill_tokens += parts.iter().map(|(_, count)| count).sum::<usize>();
        self.advance(&parts, outcome);
        true
    }

    /// Makes space for the pages of a step. Returns whether it fits.
    ///
    /// # Errors
    /// Errors of the model.
    fn has_room(&mut self, parts: &[Part]) -> Result<bool> {
        let pages = |(id, count): &Part| {
            self.conversations.get(id).map_or(0, |one| self.pages(one.cached, *count))
        };
        let pages = parts.iter().map(pages).sum();
        self.make_room(pages, None)
    }

    /// Runs a step of the model. Its tokens are in the cache then.
    ///
    /// # Errors
    /// Errors of the model.
    fn forward(&mut self, parts: &[Part]) -> Result<()> {
        let Engine { conversations, model, logits, .. } = self;
        let appended = |(id, count): &Part| {
            let one = conversations.get(id)?;
            Some(Appended { sequence: one.sequence?, tokens: one.pending().get(..*count)? })
        };
        let step: Vec<_> = parts.iter().filter_map(appended).collect();
        model.forward(&step, logits)?;
        for (id, count) in parts {
            if let Some(one) = conversations.get_mut(id) {
                one.cached += count;
            }
        }
        Ok(())
    }

    /// Runs a step for the sequence of a shared beginning.
    ///
    /// # Errors
    /// Errors of the model.
    pub(super) fn prefill(&mut self, step: &[Appended<'_>]) -> Result<()> {
        let start = Instant::now();
        let outcome = self.model.forward(step, &mut self.logits);
        self.stats.prefill_time += start.elapsed();
        self.stats.prefill_tokens += step.iter().map(|one| one.tokens.len()).sum::<usize>();
        outcome
    }

    /// Chooses the next token of each conversation of a step whose tokens are all in the cache.
    fn advance(&mut self, parts: &[Part], outcome: Result<()>) {
        if let Err(error) = outcome {
            parts.iter().for_each(|(id, _)| self.evict(*id, Reason::Failed(error.clone())));
            return;
        }
        let mut logits = std::mem::take(&mut self.logits);
        let width = logits.len() / parts.len();
        for ((id, _), row) in parts.iter().zip(logits.chunks_exact_mut(width.max(1))) {
            self.choose(*id, row);
        }
        self.logits = logits;
    }

    fn choose(&mut self, id: ConversationId, logits: &mut [f32]) {
        let rules = Rules {
            tokenizer: &self.tokenizer,
            stop_tokens: &self.config.template.stop_tokens,
            context_window: self.config.context_window,
        };
        let Some(conversation) =
            self.conversations.get_mut(&id).filter(|one| one.pending().is_empty())
        else {
            return;
        };
        match conversation.advance(logits, &rules) {
            Ok((text, reason)) => {
                self.emit(id, text);
                if let Some(reason) = reason {
                    self.end_reply(id, reason);
                }
            }
            Err(error) => self.evict(id, Reason::Failed(error)),
        }
    }

    fn emit(&mut self, id: ConversationId, text: String) {
        if !text.is_empty() {
            self.events.push_back((id, Event::Text(text)));
        }
    }

    /// Ends a reply, and removes tokens from the cache that the conversation no longer has.
    pub(super) fn end_reply(&mut self, id: ConversationId, reason: Reason) {
        let Some(conversation) = self.conversations.get_mut(&id) else { return };
        let Some(tokens) = conversation.reply.as_ref().map(super::ReplyState::token_count) else {
            return;
        };
        let text = conversation.end();
        self.emit(id, text);
        self.events.push_back((id, Event::End { reason, tokens }));
        self.forget_end(id);
    }

    /// Removes the tokens from the cache that follow those of the conversation: a stop string.
    fn forget_end(&mut self, id: ConversationId) {
        let Some(conversation) = self.conversations.get_mut(&id) else { return };
        let extra = conversation.cached.saturating_sub(conversation.tokens.len());
        let (Some(sequence), true) = (conversation.sequence, extra > 0) else { return };
        conversation.cached -= extra;
        // Sequences that slide may have moved on: they are read again.
        let is_popped =
            self.config.sliding_window.is_none() && self.model.pop(sequence, extra).is_ok();
        if !is_popped {
            let sequence = conversation.detach();
            self.remove_sequence(sequence);
        }
    }

    /// Ends a reply, and removes the conversation from the cache.
    fn evict(&mut self, id: ConversationId, reason: Reason) {
        self.end_reply(id, reason);
        let sequence = self.conversations.get_mut(&id).and_then(super::Conversation::detach);
        self.remove_sequence(sequence);
    }
}
