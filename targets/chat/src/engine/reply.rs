//! The text of one reply, as an iterator.

use super::{ConversationId, Engine, Event, Reason};
use crate::model::{CompiledModel, LanguageModel};

/// Pieces of a reply as they come. Dropping it cancels the reply.
///
/// Steps that it makes also advance the replies of other conversations, whose events stay with the
/// engine.
pub struct Reply<'a, M: LanguageModel = CompiledModel> {
    engine: &'a mut Engine<M>,
    id: ConversationId,
    end: Option<(Reason, usize)>,
}

impl<M: LanguageModel> Engine<M> {
    /// Adds a user's message, and returns the reply.
    ///
    /// # Errors
    /// Errors of [`say`](Engine::say).
    pub fn reply(&mut self, id: ConversationId, message: &str) -> ferrite::Result<Reply<'_, M>> {
        self.say(id, message)?;
        Ok(Reply { engine: self, id, end: None })
    }
}

impl<M: LanguageModel> Reply<'_, M> {
    /// Returns why the reply ended, and the number of tokens that were made; `None` before its end.
    pub fn end(&self) -> Option<(&Reason, usize)> {
        self.end.as_ref().map(|(reason, tokens)| (reason, *tokens))
    }

    /// Cancels the reply. What remains of the iterator is text that was made already.
    pub fn cancel(&mut self) {
        self.engine.cancel(self.id);
    }

    fn take_event(&mut self) -> Option<Event> {
        let at = self.engine.events.iter().position(|(id, _)| *id == self.id)?;
        self.engine.events.remove(at).map(|(_, event)| event)
    }
}

impl<M: LanguageModel> Iterator for Reply<'_, M> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while self.end.is_none() {
            match self.take_event() {
                Some(Event::Text(text)) => return Some(text),
                Some(Event::End { reason, tokens }) => self.end = Some((reason, tokens)),
                None if self.engine.step() => {}
                None => return None,
            }
        }
        None
    }
}

impl<M: LanguageModel> Drop for Reply<'_, M> {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.cancel();
            while self.take_event().is_some() {}
        }
    }
}
