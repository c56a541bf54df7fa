//! Sequences of the cache: shared beginnings of conversations, and space for pages.

use ferrite::Result;

use super::conversation::Prefix;
use super::{ConversationId, Engine};
use crate::config::Window;
use crate::model::{Appended, LanguageModel};

/// Number of beginnings that are kept.
const PREFIXES: usize = 4;

impl<M: LanguageModel> Engine<M> {
    /// Returns the number of sequences that the cache needs for a number of conversations.
    pub fn sequences(capacity: usize) -> usize {
        capacity + PREFIXES
    }

    /// Gives a conversation a sequence, with its shared beginning if it has one.
    ///
    /// # Errors
    /// Errors of the model.
    pub(super) fn attach(&mut self, id: ConversationId) -> Result<()> {
        let Some(conversation) = self.conversations.get(&id) else { return Ok(()) };
        if conversation.sequence.is_some() {
            return Ok(());
        }
        let window = self.config.sliding_window;
        // The last token is left for a step, which has to return logits.
        let shared = conversation.shared.min(conversation.tokens.len() - 1);
        let is_short = |window: Window| shared < window.size / 2;
        let parent = match shared {
            0 => None,
            _ if !window.is_none_or(is_short) => None,
            _ => self.prefix(conversation.tokens[..shared].to_vec())?,
        };
        let sequence = self.new_sequence();
        match parent {
            Some(parent) => {
                self.make_room(1, Some(id))?;
                self.model.fork(parent, sequence, shared)?;
            }
            None => self.model.add(sequence)?,
        }
        if let Some(conversation) = self.conversations.get_mut(&id) {
            conversation.sequence = Some(sequence);
            conversation.cached = if parent.is_some() { shared } else { 0 };
        }
        match window {
            Some(window) => self.model.slide(sequence, window),
            None => Ok(()),
        }
    }

    fn new_sequence(&mut self) -> i64 {
        self.next_sequence += 1;
        self.next_sequence
    }

    /// Returns the sequence with these tokens; `None` if the cache has no space for it.
    ///
    /// # Errors
    /// Errors of the model.
    fn prefix(&mut self, tokens: Vec<u32>) -> Result<Option<i64>> {
        if let Some(at) = self.prefixes.iter().position(|prefix| prefix.tokens == tokens) {
            // The one that was used last is the last one to be removed.
            let prefix = self.prefixes.remove(at);
            let sequence = prefix.sequence;
            self.prefixes.push(prefix);
            return Ok(Some(sequence));
        }
        if self.prefixes.len() == PREFIXES {
            self.remove_oldest_prefix();
        }
        // Twice: the conversation adds pages of its own.
        let pages = tokens.len().div_ceil(self.config.page_size);
        if self.model.free_pages()? < 2 * pages + 1 {
            return Ok(None);
        }
        let sequence = self.new_sequence();
        self.model.add(sequence)?;
        for chunk in tokens.chunks(self.chunk()) {
            if let Err(error) = self.prefill(&[Appended { sequence, tokens: chunk }]) {
                self.remove_sequence(Some(sequence));
                return Err(error);
            }
        }
        self.prefixes.push(Prefix { tokens, sequence });
        Ok(Some(sequence))
    }

    /// Returns the maximum number of tokens of a step.
    pub(super) fn chunk(&self) -> usize {
        let window = self.config.sliding_window.map_or(usize::MAX, |window| window.size);
        self.config.prefill_chunk.min(window).max(1)
    }

    /// Returns the number of pages that a sequence needs for further tokens. Sequences that slide
    /// return theirs.
    pub(super) fn pages(&self, cached: usize, count: usize) -> usize {
        let size = self.config.page_size;
        match self.config.sliding_window {
            Some(window) if cached >= window.size => 0,
            _ => (cached + count).div_ceil(size) - cached.div_ceil(size),
        }
    }

    /// Frees pages until there are as many: shared beginnings first, then conversations without a
    /// reply in the making, which are read again when they go on. Returns whether there are.
    ///
    /// # Errors
    /// Errors of the model.
    pub(super) fn make_room(
        &mut self,
        pages: usize,
        except: Option<ConversationId>,
    ) -> Result<bool> {
        loop {
            if self.model.free_pages()? >= pages {
                return Ok(true);
            }
            if !self.prefixes.is_empty() && except.is_none() {
                self.remove_oldest_prefix();
                continue;
            }
            let mut idle = self
                .conversations
                .iter_mut()
                .filter(|(id, one)| one.reply.is_none() && Some(**id) != except);
            let Some((_, conversation)) = idle.find(|(_, one)| one.sequence.is_some()) else {
                return Ok(false);
            };
            let sequence = conversation.detach();
            self.remove_sequence(sequence);
        }
    }

    fn remove_oldest_prefix(&mut self) {
        let sequence = (!self.prefixes.is_empty()).then(|| self.prefixes.remove(0).sequence);
        self.remove_sequence(sequence);
    }

    /// Removes a sequence from the cache. After an error the cache may not know it.
    pub(super) fn remove_sequence(&mut self, sequence: Option<i64>) {
        if let Some(sequence) = sequence {
            let _ = self.model.remove(sequence);
        }
    }
}
