//! A client of a board: its handshake, and its connection in limited time.
#![forbid(unsafe_code)]

use std::net::TcpStream;
use std::time::{Duration, Instant};

use ferrite_rpc::handshake;
use ferrite_rpc::wire::{Closed, Stream};

use crate::rpc::greeting::{Lock, Timed, greet};
use crate::rpc::limit::end_of;

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
    /// Makes the handshake with a client, whose answer has the key of the server. Returns the
    /// client with its admission.
    ///
    /// # Errors
    /// The reason for which the client is refused, for the log. The client has the answer, if it
    /// expects one.
    pub fn greet<T>(
        stream: TcpStream,
        lock: &Lock<'_, T>,
        key: &str,
        limit: Duration,
    ) -> Result<(Client, T), String> {
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (admission, timeout) = greet(&stream, limit, lock)?;
        let end = end_of(Some(limit));
        let mut client = Client { stream, timeout, end, is_late: false, written: Vec::new() };
        handshake::accept(&mut client, format!("server:{key}").as_bytes())
            .map_err(|_| "the connection ended during the handshake".to_string())?;
        Ok((client, admission))
    }

    /// Reads or writes in the time that is left.
    fn in_time(
        &mut self,
        act: impl FnOnce(&mut Timed<'_>) -> Result<(), Closed>,
    ) -> Result<(), Closed> {
        let mut timed = Timed::until(&self.stream, self.end);
        let outcome = act(&mut timed);
        self.is_late = timed.is_late;
        outcome
    }
}

impl Stream for Client {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        self.in_time(|stream| stream.read(target))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.written.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Closed> {
        let mut written = std::mem::take(&mut self.written);
        let outcome = self.in_time(|stream| stream.write(&written));
        written.clear();
        self.written = written;
        outcome
    }
}
