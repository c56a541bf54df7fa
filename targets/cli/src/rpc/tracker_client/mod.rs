//! Connections to a tracker: for the commands that ask it, and for servers that register.

mod registration;

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use ferrite_rpc::tracker::protocol::{MAGIC, SUCCESS, code, frame};

pub use registration::{Offer, Registration, SessionSlot};

/// Maximum length of an answer: a summary is longer than a request may be.
const LONGEST_ANSWER: usize = 16 << 20;

/// Time for connecting and for each answer that the tracker can give at once.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Connection to a tracker.
pub struct TrackerConnection {
    stream: TcpStream,
}

/// Server that a client got from the tracker.
#[derive(Debug, Deserialize)]
pub struct Assigned {
    pub host: String,
    pub port: u16,
    pub match_key: String,
}

/// State of a tracker.
#[derive(Debug, Deserialize, Serialize)]
pub struct Summary {
    pub queue_info: std::collections::BTreeMap<String, QueueInfo>,
    pub server_info: Vec<ServerInfo>,
}

/// Number of free servers and of waiting clients of a key.
#[derive(Debug, Deserialize, Serialize)]
pub struct QueueInfo {
    pub free: u64,
    pub pending: u64,
}

/// Registered server: `server:KEY`, host and port. The port is a string in those of C++ and Java.
#[derive(Debug, Deserialize, Serialize)]
pub struct ServerInfo {
    pub key: String,
    pub addr: (Option<String>, Value),
}

impl TrackerConnection {
    /// Connects to the tracker at HOST:PORT.
    ///
    /// # Errors
    /// Errors of the connection; `InvalidData` if this is not a tracker.
    pub fn open(address: &str) -> io::Result<TrackerConnection> {
        let stream = connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut connection = TrackerConnection { stream };
        connection.stream.write_all(&MAGIC.to_le_bytes())?;
        match connection.receive_word() {
            Ok(MAGIC) => Ok(connection),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err(malformed("this is not a tracker: it closed the connection"))
            }
            Err(error) => Err(error),
            Ok(other) => Err(malformed(format!("this is not a tracker: it answers {other:#x}"))),
        }
    }

    /// Returns the state of the tracker.
    ///
    /// # Errors
    /// Errors of the connection; `InvalidData` for a malformed answer.
    pub fn summary(&mut self) -> io::Result<Summary> {
        let answer = self.ask(&json!([code::SUMMARY]))?;
        parse(succeeded(answer)?)
    }

    /// Waits for a server of this key: as long as it takes.
    ///
    /// # Errors
    /// Errors of the connection; `InvalidData` for a malformed answer.
    pub fn request(&mut self, key: &str, priority: i64) -> io::Result<Assigned> {
        self.stream.write_all(&frame(&json!([code::REQUEST, key, "", priority])))?;
        self.stream.set_read_timeout(None)?;
        let answer = self.receive();
        self.stream.set_read_timeout(Some(TIMEOUT))?;
        parse(succeeded(answer?)?)
    }

    /// Describes the server behind this connection: its key, the port at which it listens, and its
    /// host if clients reach it by another one than the tracker does.
    ///
    /// # Errors
    /// Errors of the connection; `InvalidData` if the tracker refuses.
    pub fn register(&mut self, key: &str, host: Option<&str>, port: u16) -> io::Result<()> {
        let info = json!({ "key": format!("server:{key}"), "addr": [host, port] });
        self.command(&json!([code::UPDATE_INFO, info]))
    }

    /// Offers the server for one session to a client with this match key.
    ///
    /// # Errors
    /// Same errors as [`Self::register`].
    pub fn put(
        &mut self,
        key: &str,
        host: Option<&str>,
        port: u16,
        match_key: &str,
    ) -> io::Result<()> {
        self.command(&json!([code::PUT, key, [port, match_key], host]))
    }

    /// Returns the match keys of this connection that no client has been given.
    ///
    /// # Errors
    /// Errors of the connection; `InvalidData` for a malformed answer.
    pub fn pending_match_keys(&mut self) -> io::Result<Vec<String>> {
        let answer = self.ask(&json!([code::PENDING_MATCH_KEYS]))?;
        parse(answer)
    }

    fn command(&mut self, request: &Value) -> io::Result<()> {
        match self.ask(request)? {
            answer if answer == json!(SUCCESS) => Ok(()),
            answer => Err(malformed(format!("the tracker refuses: {answer:.200}"))),
        }
    }

    fn ask(&mut self, request: &Value) -> io::Result<Value> {
        self.stream.write_all(&frame(request))?;
        self.receive()
    }

    fn receive(&mut self) -> io::Result<Value> {
        let length = self.receive_word()?;
        let length = usize::try_from(length).ok().filter(|length| *length <= LONGEST_ANSWER);
        let length = length.ok_or_else(|| malformed("an answer of an impossible length"))?;
        let mut answer = Vec::new();
        // The buffer grows with what arrives, not by what the tracker announces.
        let count = (&mut self.stream).take(length as u64).read_to_end(&mut answer);
        match count.map_err(without_answer)? {
            count if count == length => serde_json::from_slice(&answer).map_err(malformed),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    fn receive_word(&mut self) -> io::Result<i32> {
        let mut word = [0; 4];
        self.stream.read_exact(&mut word).map_err(without_answer)?;
        Ok(i32::from_le_bytes(word))
    }
}

/// Connects to the first address of HOST:PORT that answers.
fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for one in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&one, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the result of an answer `[0, result]`.
fn succeeded(answer: Value) -> io::Result<Value> {
    match answer.as_array().map(Vec::as_slice) {
        Some([status, result]) if *status == json!(SUCCESS) => Ok(result.clone()),
        _ => Err(malformed(format!("the tracker refuses: {answer:.200}"))),
    }
}

fn parse<T: serde::de::DeserializeOwned>(answer: Value) -> io::Result<T> {
    serde_json::from_value(answer).map_err(malformed)
}

fn malformed(reason: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason.to_string())
}

/// Names the time limit, which the operating system reports as an operation that would block.
fn without_answer(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock => io::Error::new(ErrorKind::TimedOut, "the tracker does not answer"),
        ErrorKind::UnexpectedEof => {
            io::Error::new(error.kind(), "the tracker closed the connection")
        }
        _ => error,
    }
}
