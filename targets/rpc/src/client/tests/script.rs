//! A server that answers with prepared bytes, and keeps what it was sent.

use std::sync::{Arc, Mutex};
use std::vec::Vec;

use ferrite_core::error::Result;

use crate::client::{Session, Transport};
use crate::wire::testing::Memory;
use crate::wire::{Item, Stream, code, send, send_bytes, send_exception};

/// A transport whose reads come from a list of answers.
pub(super) struct Script {
    answers: Vec<u8>,
    at: usize,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Transport for Script {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let rest = &self.answers[self.at..];
        // Small pieces, as networks deliver them.
        let count = rest.len().min(buffer.len()).min(7);
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.sent.lock().unwrap().extend_from_slice(bytes);
        Ok(())
    }
}

/// Requests that a server got.
pub(super) struct Sent(Arc<Mutex<Vec<u8>>>);

impl Sent {
    /// Takes the code and the content of each request since the last call.
    pub(super) fn take(&self) -> Vec<(i32, Vec<u8>)> {
        let bytes = core::mem::take(&mut *self.0.lock().unwrap());
        let (mut requests, mut rest) = (Vec::new(), &bytes[..]);
        while let Some((length, tail)) = rest.split_first_chunk::<8>() {
            let (packet, tail) = tail.split_at(u64::from_le_bytes(*length) as usize);
            let (code, content) = packet.split_first_chunk::<4>().unwrap();
            requests.push((i32::from_le_bytes(*code), content.to_vec()));
            rest = tail;
        }
        requests
    }

    /// Takes the codes of the requests since the last call.
    pub(super) fn codes(&self) -> Vec<i32> {
        self.take().into_iter().map(|(code, _)| code).collect()
    }
}

/// Begins a session with a server that gives these answers after the one that begins the session.
pub(super) fn session(answers: &[Vec<u8>]) -> (Session, Sent) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let answers = [&[none()], answers].concat().concat();
    let session = Session::over(Script { answers, at: 0, sent: sent.clone() }).unwrap();
    let sent = Sent(sent);
    assert_eq!(sent.codes(), [code::INIT_SERVER]);
    (session, sent)
}

/// An answer with values.
pub(super) fn values(items: &[Item<'_>]) -> Vec<u8> {
    let mut memory = Memory::default();
    send(&mut memory, code::RETURN, b"", items).unwrap();
    memory.output
}

/// An answer with None.
pub(super) fn none() -> Vec<u8> {
    values(&[Item::None])
}

/// An answer with a handle.
pub(super) fn handle(handle: u64) -> Vec<u8> {
    values(&[Item::pointer(handle)])
}

/// The result of a call: a type index and a value.
pub(super) fn result(kind: i32, value: Item<'_>) -> Vec<u8> {
    values(&[Item::int(i64::from(kind)), value])
}

/// An answer with an error.
pub(super) fn exception(text: &str) -> Vec<u8> {
    let mut memory = Memory::default();
    send_exception(&mut memory, b"", text.as_bytes()).unwrap();
    memory.output
}

/// An answer with bytes of a tensor.
pub(super) fn bytes(content: &[u8]) -> Vec<u8> {
    let mut memory = Memory::default();
    send_bytes(&mut memory, code::COPY_ACK, content.len() as u64).unwrap();
    memory.write(content).unwrap();
    memory.output
}
