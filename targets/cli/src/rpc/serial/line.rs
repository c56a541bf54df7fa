//! A serial line: bytes in limited time.
#![forbid(unsafe_code)]

use std::fmt;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use serial2::SerialPort;

/// A line of bytes to a board.
pub trait Line {
    /// Waits for bytes, and reads some of them. Returns their number.
    ///
    /// # Errors
    /// [`LineError::Silent`] if there are none before `end`.
    fn read(&mut self, target: &mut [u8], end: Instant) -> Result<usize, LineError>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// [`LineError::Silent`] if the line takes no more.
    fn write(&mut self, bytes: &[u8]) -> Result<(), LineError>;
}

/// Reason why a board was not reached.
#[derive(Debug)]
pub enum LineError {
    /// Nothing came in time.
    Silent,
    /// The answer is not a packet.
    Garbled,
    /// The device is gone, or has an error.
    Gone(io::Error),
}

impl fmt::Display for LineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LineError::Silent => out.write_str("the board does not answer"),
            LineError::Garbled => out.write_str("the board's answer is not a packet"),
            LineError::Gone(error) => write!(out, "the serial port fails: {error}"),
        }
    }
}

/// Time after which a line that takes no bytes is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

impl Line for SerialPort {
    fn read(&mut self, target: &mut [u8], end: Instant) -> Result<usize, LineError> {
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(LineError::Silent);
            }
            // Durations below a millisecond would not wait.
            let left = left.max(Duration::from_millis(1));
            self.set_read_timeout(left).map_err(LineError::Gone)?;
            match SerialPort::read(self, target) {
                Ok(0) => return Err(LineError::Gone(ErrorKind::UnexpectedEof.into())),
                Ok(count) => return Ok(count),
                Err(error) if is_retried(error.kind()) => {}
                Err(error) => return Err(LineError::Gone(error)),
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), LineError> {
        self.set_write_timeout(WRITE_TIMEOUT).map_err(LineError::Gone)?;
        self.write_all(bytes).map_err(|error| match error.kind() {
            ErrorKind::TimedOut | ErrorKind::WouldBlock => LineError::Silent,
            _ => LineError::Gone(error),
        })
    }
}

/// Returns `true` for errors after which the time decides.
fn is_retried(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
