//! Messages of one connection, from bytes that arrive in pieces.
#![forbid(unsafe_code)]

use std::format;
use std::string::String;
use std::vec::Vec;

use super::protocol::{LONGEST_MESSAGE, MAGIC};

/// Capacity that the buffer keeps between messages.
const KEPT_BYTES: usize = 1 << 14;

/// Bytes of a peer that are not a complete message yet.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    is_greeted: bool,
}

/// Complete message of a peer.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The magic number, which comes first, once, and is answered by the same.
    Greeting,
    /// Request without its length.
    Request(Vec<u8>),
}

impl Inbox {
    /// Adds bytes that have arrived.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next complete message.
    ///
    /// # Errors
    /// The reason why the connection is refused: another magic number, or an impossible length.
    pub fn next_message(&mut self) -> Result<Option<Message>, String> {
        let Some(word) = self.bytes.first_chunk::<4>() else { return Ok(None) };
        let word = i32::from_le_bytes(*word);
        if !self.is_greeted {
            return self.greeting(word).map(Some);
        }
        let length = usize::try_from(word).unwrap_or(0);
        if length == 0 || length > LONGEST_MESSAGE {
            return Err(format!("a message of {word} bytes, not 1 to {LONGEST_MESSAGE}"));
        }
        let Some(text) = self.bytes.get(4..4 + length) else { return Ok(None) };
        let text = text.to_vec();
        self.bytes.drain(..4 + length);
        self.bytes.shrink_to(KEPT_BYTES);
        Ok(Some(Message::Request(text)))
    }

    fn greeting(&mut self, word: i32) -> Result<Message, String> {
        if word != MAGIC {
            return Err(format!("not a client of a tracker: it begins with {word:#x}"));
        }
        self.is_greeted = true;
        self.bytes.drain(..4);
        Ok(Message::Greeting)
    }

    /// Returns `true` if the peer has sent the magic number.
    pub fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    /// Returns `true` between two messages.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the capacity of the buffer in bytes.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn message(length: i32, content: &[u8]) -> Vec<u8> {
        [&length.to_le_bytes()[..], content].concat()
    }

    #[test]
    fn messages_are_complete_whatever_the_pieces() {
        let all = [&MAGIC.to_le_bytes()[..], &message(3, b"[1]"), &message(3, b"[6]")].concat();
        for size in 1..=all.len() {
            let (mut inbox, mut found) = (Inbox::default(), Vec::new());
            for piece in all.chunks(size) {
                inbox.receive(piece);
                while let Some(message) = inbox.next_message().expect("a message") {
                    found.push(message);
                }
            }
            let requests = [b"[1]", b"[6]"].map(|request| Message::Request(request.to_vec()));
            assert_eq!(found, [&[Message::Greeting], &requests[..]].concat());
            assert!(inbox.is_greeted() && inbox.is_empty());
        }
    }

    #[test]
    fn other_magic_numbers_and_impossible_lengths_are_refused() {
        for word in [0, -1, MAGIC + 1, i32::MIN] {
            let mut inbox = Inbox::default();
            inbox.receive(&word.to_le_bytes());
            assert!(inbox.next_message().is_err(), "{word}");
        }
        for length in [0, -1, i32::MIN, i32::MAX, LONGEST_MESSAGE as i32 + 1] {
            let mut inbox = Inbox::default();
            inbox.receive(&MAGIC.to_le_bytes());
            inbox.receive(&message(length, b"[1]"));
            assert_eq!(inbox.next_message(), Ok(Some(Message::Greeting)));
            assert!(inbox.next_message().is_err(), "{length}");
        }
    }

    #[test]
    fn a_long_message_does_not_keep_its_memory() {
        let mut inbox = Inbox::default();
        inbox.receive(&MAGIC.to_le_bytes());
        inbox.receive(&message(LONGEST_MESSAGE as i32, &vec![b' '; LONGEST_MESSAGE]));
        assert_eq!(inbox.next_message(), Ok(Some(Message::Greeting)));
        assert!(matches!(inbox.next_message(), Ok(Some(Message::Request(_)))));
        assert!(inbox.capacity() <= KEPT_BYTES);
    }
}
