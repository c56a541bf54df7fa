//! A board at a serial port: its stream of bytes, and how it is reset.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ferrite_rpc::wire::code;
use serial2::SerialPort;

use super::line::{Line, LineError};
use super::link::Link;
use super::options::{Reset, Serial};
use crate::failure::{Failure, Outcome};
use crate::rpc::log::note;

/// Packet that ends a session of the board.
pub const SHUTDOWN: [u8; 12] = [4, 0, 0, 0, 0, 0, 0, 0, code::SHUTDOWN as u8, 0, 0, 0];

/// Duration of a pulse that resets a board.
const PULSE: Duration = Duration::from_millis(100);

/// Time in which the link of a board that runs must answer.
const GREETING: Duration = Duration::from_secs(3);

/// A board.
pub struct Board {
    device: PathBuf,
    baud: u32,
    reset: Option<Reset>,
    start_time: Duration,
    channel: Channel,
}

/// The stream of bytes to a board.
enum Channel {
    Raw(SerialPort),
    Framed(Link<SerialPort>),
}

impl Board {
    /// Opens the serial port of the board.
    ///
    /// # Errors
    /// [`Kind::Missing`](crate::failure::Kind::Missing) for a device that cannot be opened.
    pub fn open(options: &Serial) -> Outcome<Board> {
        let Serial { device, baud, framed, reset, start_time, .. } = options.clone();
        let port = SerialPort::open(&device, baud).map_err(|error| {
            Failure::missing(format!("cannot open {} with {baud} baud: {error}", device.display()))
        })?;
        let channel = match framed {
            true => Channel::Framed(Link::new(port, baud)),
            false => Channel::Raw(port),
        };
        Ok(Board { device, baud, reset, start_time, channel })
    }

    /// Prepares the board for a session, and resets it if it does not answer. Returns `false` if
    /// the answer to the first request shows whether it does.
    ///
    /// # Errors
    /// Errors of the line, after a reset.
    pub fn begin(&mut self) -> Result<bool, LineError> {
        match self.try_begin() {
            Err(error) if self.reset(&error) => self.try_begin(),
            result => result,
        }
    }

    fn try_begin(&mut self) -> Result<bool, LineError> {
        match &mut self.channel {
            Channel::Raw(port) => {
                // Ends a session that another bridge left, and forgets what the board said before.
                Line::write(port, &SHUTDOWN)?;
                std::thread::sleep(PULSE);
                port.discard_input_buffer().map_err(LineError::Gone)?;
                Ok(false)
            }
            Channel::Framed(link) => {
                link.restart(random_name(), Instant::now() + GREETING)?;
                Ok(true)
            }
        }
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// Errors of the line.
    pub fn send(&mut self, bytes: &[u8], end: Instant) -> Result<(), LineError> {
        match &mut self.channel {
            Channel::Raw(port) => Line::write(port, bytes),
            Channel::Framed(link) => link.send(bytes, end),
        }
    }

    /// Fills `target` with bytes of the board.
    ///
    /// # Errors
    /// Errors of the line; [`LineError::Silent`] if they do not come before `end`.
    pub fn receive(&mut self, target: &mut [u8], end: Instant) -> Result<(), LineError> {
        let mut rest = target;
        while !rest.is_empty() {
            let count = match &mut self.channel {
                Channel::Raw(port) => Line::read(port, rest, end)?,
                Channel::Framed(link) => link.receive(rest, end)?,
            };
            rest = &mut std::mem::take(&mut rest)[count..];
        }
        Ok(())
    }

    /// Resets the board because of an error. Returns `false` if it cannot be reset.
    pub fn reset(&mut self, error: &LineError) -> bool {
        // An adapter that was unplugged, or that the reset removes, has to be opened again.
        if matches!(error, LineError::Gone(_)) && !self.reopen() && self.reset.is_none() {
            return false;
        }
        let Some(reset) = self.reset.clone() else { return matches!(error, LineError::Gone(_)) };
        let how = match &reset {
            Reset::Dtr => "DTR",
            Reset::Rts => "RTS",
            Reset::Command(command) => command,
        };
        note(self.device.display(), format_args!("{error}: reset by {how}"));
        let done = match &reset {
            Reset::Dtr => self.pulse(SerialPort::set_dtr, false),
            Reset::Rts => self.pulse(SerialPort::set_rts, true),
            Reset::Command(command) => run(command),
        };
        if let Err(reason) = done {
            note(self.device.display(), format_args!("cannot be reset: {reason}"));
            return false;
        }
        std::thread::sleep(self.start_time);
        !matches!(error, LineError::Gone(_)) || self.reopen()
    }

    /// Gives a line of the port this state for a moment.
    fn pulse(
        &mut self,
        set: fn(&SerialPort, bool) -> std::io::Result<()>,
        state: bool,
    ) -> Result<(), String> {
        let port = self.port();
        set(port, state).map_err(|error| error.to_string())?;
        std::thread::sleep(PULSE);
        set(port, !state).map_err(|error| error.to_string())
    }

    fn port(&mut self) -> &mut SerialPort {
        match &mut self.channel {
            Channel::Raw(port) => port,
            Channel::Framed(link) => link.line(),
        }
    }

    /// Opens the port again. Returns `false` if that fails.
    fn reopen(&mut self) -> bool {
        match SerialPort::open(&self.device, self.baud) {
            Ok(port) => {
                *self.port() = port;
                true
            }
            Err(_) => false,
        }
    }
}

/// Runs a command of the shell.
fn run(command: &str) -> Result<(), String> {
    let mut shell = Command::new("sh");
    // Standard output has the address of the server.
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null());
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(status.to_string()),
        Err(error) => Err(format!("cannot run sh: {error}")),
    }
}

/// Returns a name for a session, unlike those before it.
fn random_name() -> [u8; 4] {
    let mut name = [0; 4];
    if getrandom::fill(&mut name).is_err() || name == [0; 4] {
        // The board starts with a session named by zeros.
        return [1; 4];
    }
    name
}
