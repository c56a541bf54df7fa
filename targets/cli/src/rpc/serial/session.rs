//! A session: whole packets of a client go to the board, and its answers back. A client that
//! vanishes leaves the board between two packets.
#![forbid(unsafe_code)]

use std::fmt;
use std::time::{Duration, Instant};

use ferrite_rpc::wire::{Closed, Stream, code, send_exception};

use super::board::{Board, SHUTDOWN};
use super::client::Client;
use super::line::LineError;
use super::options::Serial;
use crate::rpc::limit::end_of;

/// Bytes of a packet that are forwarded at a time.
const BLOCK: usize = 4096;

/// Reason why a session ended.
#[derive(Debug)]
pub enum End {
    /// The client ended it.
    Shutdown,
    /// The connection ended.
    Closed,
    /// The time of the session is over.
    Late,
    /// The board is not reached.
    Board(LineError),
}

impl fmt::Display for End {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Shutdown => out.write_str("session ended"),
            End::Closed => out.write_str("session ended: the client is gone"),
            End::Late => out.write_str("session ended: it has expired"),
            End::Board(error) => write!(out, "session ended: {error}"),
        }
    }
}

impl From<Closed> for End {
    fn from(_: Closed) -> End {
        End::Closed
    }
}

/// A session of a client with a board.
pub struct Session<'a> {
    board: &'a mut Board,
    client: Client,
    max_packet: usize,
    answer_timeout: Duration,
    limit: Option<Duration>,
    /// Whether the board is known to run.
    is_answering: bool,
    /// Whether the board has a request without a whole answer.
    is_pending: bool,
    /// Whether the client has a part of an answer.
    is_answer_begun: bool,
}

impl Session<'_> {
    /// Creates a session, which ends at the limit of the options or of the client.
    pub fn new<'a>(options: &Serial, board: &'a mut Board, mut client: Client) -> Session<'a> {
        let limits = [options.timeout, client.timeout];
        let limit = limits.into_iter().flatten().min();
        client.end = end_of(limit);
        Session {
            board,
            client,
            max_packet: options.max_packet as usize,
            answer_timeout: options.answer_timeout,
            limit,
            is_answering: false,
            is_pending: false,
            is_answer_begun: false,
        }
    }

    /// Serves the client until the session ends.
    pub fn run(mut self) -> End {
        let end = match self.begin().and_then(|()| self.serve()) {
            Ok(never) => match never {},
            Err(end) => end,
        };
        let is_over = self.client.end.is_some_and(|end| Instant::now() >= end);
        let end = match end {
            End::Closed if self.client.is_late => End::Late,
            End::Board(LineError::Silent) if is_over => End::Late,
            end => end,
        };
        self.tell(&end);
        self.leave(&end);
        end
    }

    fn begin(&mut self) -> Result<(), End> {
        self.is_answering = self.board.begin().map_err(End::Board)?;
        Ok(())
    }

    fn serve(&mut self) -> Result<std::convert::Infallible, End> {
        loop {
            let Some(request) = self.read_request()? else { continue };
            if request.get(8..12) == Some(&code::SHUTDOWN.to_le_bytes()) {
                return Err(End::Shutdown);
            }
            self.forward(&request)?;
        }
    }

    /// Reads a packet with its length. Returns `None` for one without content, and for one that is
    /// too long, which is answered by an error.
    fn read_request(&mut self) -> Result<Option<Vec<u8>>, End> {
        let mut head = [0; 8];
        self.client.read(&mut head)?;
        let length = u64::from_le_bytes(head);
        if length > self.max_packet as u64 {
            let mut rest = length;
            let mut ignored = [0; BLOCK];
            while rest != 0 {
                let count = rest.min(BLOCK as u64);
                self.client.read(&mut ignored[..count as usize])?;
                rest -= count;
            }
            let most = self.max_packet;
            self.except("MemoryError", &format!("the request has {length} bytes: at most {most}"))?;
            return Ok(None);
        }
        let mut request = head.to_vec();
        request.resize(8 + length as usize, 0);
        self.client.read(&mut request[8..])?;
        Ok(Some(request).filter(|_| length != 0))
    }

    /// Sends a request to the board, and its answer to the client.
    fn forward(&mut self, request: &[u8]) -> Result<(), End> {
        let length = match self.ask(request) {
            // The board may have been off, or in the middle of another session.
            Err(error) if !self.is_answering && self.board.reset(&error) => {
                self.board.begin().and_then(|_| self.ask(request))
            }
            length => length,
        };
        let mut rest = length.map_err(End::Board)?;
        self.is_answering = true;
        self.client.write(&(rest as u64).to_le_bytes())?;
        self.is_answer_begun = true;
        let mut block = [0; BLOCK];
        while rest != 0 {
            let part = &mut block[..rest.min(BLOCK)];
            self.board.receive(part, self.end()).map_err(End::Board)?;
            rest -= part.len();
            self.is_pending = rest != 0;
            self.client.write(part)?;
            self.client.flush()?;
        }
        self.is_answer_begun = false;
        Ok(())
    }

    /// Sends a request. Returns the length of the answer.
    fn ask(&mut self, request: &[u8]) -> Result<usize, LineError> {
        self.is_pending = true;
        self.board.send(request, self.end())?;
        let mut head = [0; 8];
        self.board.receive(&mut head, self.end())?;
        match usize::try_from(u64::from_le_bytes(head)) {
            Ok(length) if (4..=self.max_packet).contains(&length) => Ok(length),
            _ => Err(LineError::Garbled),
        }
    }

    /// Returns the time until which the board must answer.
    fn end(&self) -> Instant {
        let end = Instant::now() + self.answer_timeout;
        self.client.end.map_or(end, |client| client.min(end))
    }

    fn except(&mut self, kind: &str, message: &str) -> Result<(), Closed> {
        send_exception(&mut self.client, kind.as_bytes(), message.as_bytes())
    }

    /// Tells the client why the session ends, if it waits for an answer.
    fn tell(&mut self, end: &End) {
        let (kind, message) = match end {
            End::Shutdown | End::Closed => return,
            End::Late => {
                let seconds = self.limit.unwrap_or_default().as_secs_f64();
                let advice = "try to increase the \"session_timeout\" value.";
                let message = format!("Your {seconds:.1}s session has expired, {advice}");
                ("RPCSessionTimeoutError", message)
            }
            End::Board(error) => ("RuntimeError", error.to_string()),
        };
        if self.is_answer_begun {
            return; // its rest cannot become an error
        }
        self.client.end = end_of(Some(Duration::from_secs(2)));
        // The client may be gone.
        let _ = self.except(kind, &message);
    }

    /// Ends the session of the board, which must be between two requests then; resets it if it does
    /// not answer.
    fn leave(&mut self, end: &End) {
        self.client.end = None;
        let mut result = match end {
            End::Board(LineError::Gone(error)) => Err(LineError::Gone(error.kind().into())),
            End::Board(LineError::Garbled) => Err(LineError::Garbled),
            End::Board(LineError::Silent) => Err(LineError::Silent),
            _ => Ok(()),
        };
        if result.is_ok() && self.is_pending {
            result = self.drain();
        }
        let soon = Instant::now() + Duration::from_secs(3);
        let result = result.and_then(|()| self.board.send(&SHUTDOWN, soon));
        if let Err(error) = result {
            self.board.reset(&error);
        }
    }

    /// Reads the answer that no client waits for.
    fn drain(&mut self) -> Result<(), LineError> {
        let end = self.end();
        let mut ignored = [0; 1];
        // Its length may have been read, so silence is its end.
        self.board.receive(&mut ignored, end)?;
        loop {
            match self.board.receive(&mut ignored, Instant::now() + Duration::from_millis(300)) {
                Ok(()) => {}
                Err(LineError::Silent) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}
