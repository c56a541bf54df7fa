//! Requests and their answers: one request at a time, each with one answer.
#![forbid(unsafe_code)]

use ferrite_core::error::{Error, Result};

use super::channel::Channel;
use super::decode;
use super::errors::{self, Read, Refusal};
use crate::wire::{Closed, Fault, Packet, Stream, code, send};

/// Longest text of a remote error in bytes.
const MAX_ERROR_BYTES: u64 = 16 << 20;

/// The stream of a session, or its remains.
pub(super) struct Connection {
    channel: Option<Channel>,
}

/// An answer that is being read.
pub(super) type Answer<'a> = Packet<'a, Channel>;

impl Connection {
    /// Creates a connection over a stream whose handshake is complete.
    pub(super) fn new(channel: Channel) -> Connection {
        Connection { channel: Some(channel) }
    }

    /// Borrows the stream.
    ///
    /// # Errors
    /// RPCError if the session ended.
    pub(super) fn channel(&mut self) -> Result<&mut Channel> {
        self.channel.as_mut().ok_or_else(errors::closed)
    }

    /// Ends the session.
    pub(super) fn close(&mut self) {
        if let Some(mut channel) = self.channel.take() {
            let content = code::SHUTDOWN.to_le_bytes();
            let length = (content.len() as u64).to_le_bytes();
            // The server may be gone already.
            let _ = channel.write(&length).and_then(|()| channel.write(&content));
            let _ = channel.flush();
        }
    }

    /// Drops the stream without a word to the server.
    pub(super) fn abandon(&mut self) {
        self.channel = None;
    }

    /// Sends a request, and reads its answer, which must have the code `expected`, by `read`.
    ///
    /// # Errors
    /// RPCError if the session ended or ends, or the answer is malformed; the error that the server
    /// raised; errors of `read`.
    pub(super) fn round_trip<T>(
        &mut self,
        send: impl FnOnce(&mut Channel) -> core::result::Result<(), Closed>,
        expected: i32,
        read: impl FnOnce(&mut Answer<'_>) -> Read<T>,
    ) -> Result<T> {
        let channel = self.channel()?;
        // A server that ends a session sends the reason, which can be read after a failed write.
        let sent = send(channel);
        let answer = receive(channel, expected, read);
        let error = match (sent, answer) {
            (Ok(()), Ok(value)) => return Ok(value),
            (Ok(()), Err(Refusal::Error(error))) => return Err(error),
            (Err(Closed), Err(Refusal::Error(error))) => error,
            (_, Err(Refusal::Broken(Fault::Malformed))) => errors::malformed(format_args!(
                "lengths that contradict each other, or an unexpected type"
            )),
            _ => channel.take_failure(),
        };
        self.channel = None;
        Err(error)
    }

    /// Sends a request with a sequence of values. The answer is one value.
    ///
    /// # Errors
    /// Those of [`round_trip`](Connection::round_trip).
    pub(super) fn ask(
        &mut self,
        code: i32,
        items: &[crate::wire::Item<'_>],
    ) -> Result<decode::Value> {
        let one = |answer: &mut Answer<'_>| {
            let [value] = decode::exactly(answer)?;
            Ok(value)
        };
        self.round_trip(|channel| send(channel, code, b"", items), code::RETURN, one)
    }
}

/// Reads a packet, which must have the code `expected` and no bytes after the content.
fn receive<T>(
    channel: &mut Channel,
    expected: i32,
    read: impl FnOnce(&mut Answer<'_>) -> Read<T>,
) -> Read<T> {
    channel.start_waiting();
    let mut answer = Packet::begin(channel).map_err(Fault::from)?;
    let code = answer.i32()?;
    answer.stream().stop_waiting();
    let value = match code {
        code::EXCEPTION => {
            Err(exception(&mut answer).map_or_else(|refusal| refusal, Refusal::Error))
        }
        code if code == expected => read(&mut answer),
        _ => return Err(Fault::Malformed.into()),
    };
    match value {
        Ok(value) => {
            answer.finish()?;
            Ok(value)
        }
        Err(Refusal::Error(error)) => {
            answer.skip(answer.left())?;
            Err(error.into())
        }
        broken => broken,
    }
}

/// Reads a remote error.
fn exception(answer: &mut Answer<'_>) -> Read<Error> {
    if answer.left() > MAX_ERROR_BYTES {
        return Err(Fault::Malformed.into());
    }
    match decode::exactly(answer)? {
        [decode::Value::String(text)] => {
            answer.finish()?;
            Ok(errors::remote(&text))
        }
        _ => Err(Fault::Malformed.into()),
    }
}
