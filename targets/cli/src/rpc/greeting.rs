//! The handshake of a server with a client, in limited time.
#![forbid(unsafe_code)]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use ferrite_rpc::handshake::{self, HandshakeError, Key, MAX_KEY_BYTES};
use ferrite_rpc::wire::{Closed, Stream};

use super::limit::end_of;
use super::tracker_client::{Registration, SessionSlot};

/// A connection whose reads and writes end at a point in time.
pub struct Timed<'a> {
    stream: &'a TcpStream,
    /// `None` for no limit.
    end: Option<Instant>,
    /// Whether a read or write failed because of the time.
    pub is_late: bool,
}

impl Timed<'_> {
    /// Limits what is done with a connection from now on.
    pub fn new(stream: &TcpStream, limit: Duration) -> Timed<'_> {
        Timed::until(stream, end_of(Some(limit)))
    }

    /// Limits what is done with a connection by a point in time.
    pub fn until(stream: &TcpStream, end: Option<Instant>) -> Timed<'_> {
        Timed { stream, end, is_late: false }
    }

    /// Returns the duration that is left for the next operation.
    fn left(&mut self) -> Result<Option<Duration>, Closed> {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        self.is_late = left.is_some_and(|left| left.is_zero());
        if self.is_late { Err(Closed) } else { Ok(left) }
    }
}

impl Stream for Timed<'_> {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        let mut rest = target;
        while !rest.is_empty() {
            let left = self.left()?;
            self.stream.set_read_timeout(left).map_err(|_| Closed)?;
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
        let mut rest = bytes;
        while !rest.is_empty() {
            let left = self.left()?;
            self.stream.set_write_timeout(left).map_err(|_| Closed)?;
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

/// Returns `true` for errors after which the time decides.
pub fn is_retried(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Keys by which clients are admitted.
pub enum Gate {
    /// The key of the server.
    Key(String),
    /// Match keys that a tracker gives to clients, each for one session.
    Tracker(Registration),
}

impl Gate {
    /// Admits a client. Returns `None` for any other key, and the slot of a tracker, which is
    /// offered again when it is dropped.
    pub fn admit(&self, name: &[u8]) -> Option<Option<SessionSlot>> {
        match self {
            Gate::Key(key) => (name == key.as_bytes()).then_some(None),
            Gate::Tracker(registration) => {
                registration.admit(std::str::from_utf8(name).ok()?).map(Some)
            }
        }
    }
}

/// Conditions that the key of a client must meet.
pub struct Lock<'a, T> {
    /// Token that the client sends, if one is required.
    pub token: Option<&'a [u8]>,
    /// Admits a client by the name in its key. Returns `None` for a name of another server.
    pub admit: &'a dyn Fn(&[u8]) -> Option<T>,
}

/// Reads the key of a client. Returns its admission and its time limit for the session.
///
/// # Errors
/// The reason for which the client is refused, for the log. The client has the answer, if it
/// expects one.
pub fn greet<T>(
    stream: &TcpStream,
    limit: Duration,
    lock: &Lock<'_, T>,
) -> Result<(T, Option<Duration>), String> {
    let mut timed = Timed::new(stream, limit);
    let mut buffer = [0; MAX_KEY_BYTES];
    let key = match handshake::read_key(&mut timed, &mut buffer) {
        Ok(key) => Key::parse(key),
        Err(HandshakeError::NotRpc(code)) => {
            return Err(format!("not a client of TVM: magic number {code:#x}"));
        }
        Err(HandshakeError::KeyLength(length)) => {
            return Err(format!("key of {length} bytes: at most {MAX_KEY_BYTES} are read"));
        }
        Err(_) if timed.is_late => return Err(format!("no handshake within {limit:?}")),
        Err(_) => return Err("the connection ended during the handshake".into()),
    };
    match lock.open(&key) {
        Ok(admission) => Ok((admission, key.timeout())),
        Err(reason) => {
            let _ = handshake::refuse(&mut timed, handshake::MISMATCH);
            Err(reason)
        }
    }
}

impl<T> Lock<'_, T> {
    /// Returns the admission of a client with a key.
    ///
    /// # Errors
    /// The reason for which it is refused.
    pub fn open(&self, key: &Key<'_>) -> Result<T, String> {
        match self.token {
            Some(_) if key.option(b"token=").is_none() => return Err("the key has no token".into()),
            Some(token) if !key.has_token(token) => return Err("wrong token".into()),
            _ => {}
        }
        let is_client = key.role == b"client";
        is_client.then(|| (self.admit)(key.name)).flatten().ok_or_else(|| {
            format!("key `{}` is not that of this server", String::from_utf8_lossy(key.name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_need_role_name_and_token() {
        let admit = |name: &[u8]| (name == b"pi").then_some(());
        let lock = Lock { token: Some(b"secret"), admit: &admit };
        for (key, reason) in [
            ("client:pi token=secret", None),
            ("client:pi -timeout=3 token=secret", None),
            ("client:pi", Some("the key has no token")),
            ("client:pi token=", Some("wrong token")),
            ("client:pi token=secret1", Some("wrong token")),
            ("client:po token=secret", Some("key `po` is not that of this server")),
            ("server:pi token=secret", Some("key `pi` is not that of this server")),
            ("pi token=secret", Some("key `pi` is not that of this server")),
        ] {
            assert_eq!(lock.open(&Key::parse(key.as_bytes())).err().as_deref(), reason, "{key}");
        }
        let open = Lock { token: None, admit: &|name: &[u8]| Some(name.to_vec()) };
        assert_eq!(open.open(&Key::parse(b"client:")), Ok(Vec::new()));
        assert_eq!(open.open(&Key::parse(b"client:a token=any")), Ok(b"a".to_vec()));
    }
}
