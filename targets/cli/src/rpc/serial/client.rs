//! A client of a board: its handshake, and its connection in limited time.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ferrite_rpc::handshake::{self, HandshakeError, Key, MAX_KEY_BYTES};
use ferrite_rpc::wire::{Closed, Stream};

use crate::rpc::limit::end_of;
use crate::rpc::tracker_client::{Registration, SessionSlot};

/// Conditions that the key of a client must meet.
pub struct Lock<'a> {
    /// Key that the client names; with a tracker, only as part of a match key.
    pub key: &'a str,
    /// Token that the client sends, if one is required.
    pub token: Option<&'a [u8]>,
    /// Tracker that gives clients their match keys.
    pub registration: Option<&'a Registration>,
}

/// A connected client.
pub struct Client {
    stream: TcpStream,
    /// Time limit that the client wants for the session.
    pub timeout: Option<Duration>,
    /// End of reads and writes; `None` for no limit.
    pub end: Option<Instant>,
    /// Whether a read or write failed because of the time.
    pub is_late: bool,
    written: Vec<u8>,
}

impl Client {
    /// Makes the handshake with a client.
    ///
    /// # Errors
    /// The reason for which the client is refused, for the log. The client has the answer, if it
    /// expects one.
    pub fn greet(
        stream: TcpStream,
        lock: &Lock<'_>,
        limit: Duration,
    ) -> Result<(Client, Option<SessionSlot>), String> {
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let end = end_of(Some(limit));
        let mut client = Client { stream, timeout: None, end, is_late: false, written: Vec::new() };
        let mut buffer = [0; MAX_KEY_BYTES];
        let key = match handshake::read_key(&mut client, &mut buffer) {
            Ok(key) => Key::parse(key),
            Err(HandshakeError::NotRpc(code)) => {
                return Err(format!("not a client of TVM: magic number {code:#x}"));
            }
            Err(HandshakeError::KeyLength(length)) => {
                return Err(format!("key of {length} bytes: at most {MAX_KEY_BYTES} are read"));
            }
            Err(_) if client.is_late => return Err(format!("no handshake within {limit:?}")),
            Err(_) => return Err("the connection ended during the handshake".into()),
        };
        let slot = match lock.open(&key) {
            Ok(slot) => slot,
            Err(reason) => {
                let _ = handshake::refuse(&mut client, handshake::MISMATCH);
                return Err(reason);
            }
        };
        let answer = format!("server:{}", lock.key);
        handshake::accept(&mut client, answer.as_bytes())
            .map_err(|_| "the connection ended during the handshake".to_string())?;
        client.timeout = key.timeout();
        Ok((client, slot))
    }

    /// Sets the time that is left for the next operation.
    fn limit(&mut self) -> Result<(), Closed> {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        self.is_late = left.is_some_and(|left| left.is_zero());
        if self.is_late {
            return Err(Closed);
        }
        self.stream.set_read_timeout(left).map_err(|_| Closed)?;
        self.stream.set_write_timeout(left).map_err(|_| Closed)
    }
}

impl Stream for Client {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        let mut rest = target;
        while !rest.is_empty() {
            self.limit()?;
            match self.stream.read(rest) {
                Ok(0) => return Err(Closed),
                Ok(count) => rest = &mut std::mem::take(&mut rest)[count..],
                Err(error) if is_retried(error.kind()) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.written.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Closed> {
        let written = std::mem::take(&mut self.written);
        let mut rest = &*written;
        while !rest.is_empty() {
            self.limit()?;
            match self.stream.write(rest) {
                Ok(0) => return Err(Closed),
                Ok(count) => rest = &rest[count..],
                Err(error) if is_retried(error.kind()) => {}
                Err(_) => return Err(Closed),
            }
        }
        Ok(())
    }
}

impl Lock<'_> {
    /// Checks the key of a client. Returns the session that the tracker gave it.
    fn open(&self, key: &Key<'_>) -> Result<Option<SessionSlot>, String> {
        let name = String::from_utf8_lossy(key.name);
        if self.token.is_some_and(|token| !key.has_token(token)) {
            return Err("the key has no token, or a wrong one".into());
        }
        match self.registration {
            Some(registration) => match registration.admit(&name) {
                Some(slot) => Ok(Some(slot)),
                None => Err(format!("key `{name}` is not from the tracker")),
            },
            None if key.role == b"client" && name == self.key => Ok(None),
            None => Err(format!("key `{name}` is not that of this board")),
        }
    }
}

/// Returns `true` for errors after which the time decides.
fn is_retried(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
