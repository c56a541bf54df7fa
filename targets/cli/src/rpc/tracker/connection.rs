//! One connection: bytes that arrive become messages, answers wait until the peer reads them. Both
//! have time limits, so that a peer that stops in the middle is not waited for.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use ferrite_rpc::tracker::protocol::MAGIC;
use ferrite_rpc::tracker::{Inbox, Message};

/// Bytes that are read in one go, so that one connection does not occupy the thread.
const READ: usize = 1 << 14;

/// Peer of the tracker.
pub struct Connection {
    pub stream: TcpStream,
    pub address: SocketAddr,
    input: Inbox,
    /// Bytes that the peer has not read yet.
    output: Vec<u8>,
    /// Time at which the peer must have sent the rest of its message and read its answers.
    deadline: Option<Instant>,
    last_message: Instant,
}

impl Connection {
    /// Creates a connection, whose peer has `timeout` from `now` to send the magic number.
    ///
    /// # Errors
    /// Errors of the socket.
    pub fn new(
        stream: TcpStream,
        address: SocketAddr,
        now: Instant,
        timeout: Duration,
    ) -> io::Result<Connection> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream,
            address,
            input: Inbox::default(),
            output: Vec::new(),
            deadline: Some(now + timeout),
            last_message: now,
        })
    }

    /// Returns `true` if the tracker waits for requests. While answers wait for the peer, it does
    /// not, so that a peer that does not read cannot fill the memory.
    pub fn wants_input(&self) -> bool {
        self.output.is_empty()
    }

    /// Returns whether the peer has sent the magic number.
    pub fn is_greeted(&self) -> bool {
        self.input.is_greeted()
    }

    /// Returns the time of the last complete message, or of the connection.
    pub fn last_message(&self) -> Instant {
        self.last_message
    }

    /// Returns the number of bytes in buffers.
    pub fn buffered(&self) -> usize {
        self.input.capacity() + self.output.capacity()
    }

    /// Returns the time at which the connection is closed unless the peer goes on.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Reads what has arrived. Returns `false` at the end of the stream.
    ///
    /// # Errors
    /// Errors of the socket.
    pub fn receive(&mut self) -> io::Result<bool> {
        let mut buffer = [0; READ];
        match self.stream.read(&mut buffer) {
            Ok(0) => Ok(false),
            Ok(count) => {
                self.input.receive(&buffer[..count]);
                Ok(true)
            }
            Err(error) if is_temporary(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Takes the next complete message from what has been read; answers the magic number.
    ///
    /// # Errors
    /// The reason why the connection is refused.
    pub fn next_message(&mut self) -> Result<Option<Vec<u8>>, String> {
        loop {
            match self.input.next_message()? {
                Some(Message::Greeting) => self.send(&MAGIC.to_le_bytes()),
                Some(Message::Request(request)) => return Ok(Some(request)),
                None => return Ok(None),
            }
        }
    }

    /// Adds bytes to what the peer is sent.
    pub fn send(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }

    /// Writes what the peer takes.
    ///
    /// # Errors
    /// Errors of the socket.
    pub fn flush(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(count) => self.output.drain(..count),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if is_temporary(&error) => return Ok(()),
                Err(error) => return Err(error),
            };
        }
        self.output.shrink_to(READ);
        Ok(())
    }

    /// Sets the time limit: none for a peer between two messages, and a new one when an operation
    /// begins, not when another byte of it arrives.
    pub fn update_deadline(&mut self, now: Instant, timeout: Duration, is_progress: bool) {
        let is_between = self.is_greeted() && self.input.is_empty() && self.output.is_empty();
        if is_progress {
            self.last_message = now;
        }
        self.deadline = match (is_between, self.deadline) {
            (true, _) => None,
            (false, Some(deadline)) if !is_progress => Some(deadline),
            (false, _) => Some(now + timeout),
        };
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
