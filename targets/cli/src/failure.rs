//! Errors of the command, with the exit status that each kind has.

use std::fmt;

/// Result of a step of a command.
pub type Outcome<T> = Result<T, Failure>;

/// Reason for which a command ends, and its exit status.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
}

/// Kinds of failures. The numbers are exit statuses, documented in the help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function raised an error, a check found mistakes, or a step failed.
    Negative = 1,
    /// The arguments are wrong.
    Usage = 2,
    /// A file cannot be read, or is malformed.
    Input = 3,
    /// A tool, a library or a device is missing.
    Missing = 4,
    /// A child process ended by a signal.
    Crash = 5,
}

impl Failure {
    /// Creates a failure for a negative answer.
    pub fn negative(message: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Negative, message: message.to_string() }
    }

    /// Creates a failure for wrong arguments.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Usage, message: message.to_string() }
    }

    /// Creates a failure for a file that cannot be read.
    pub fn input(message: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Input, message: message.to_string() }
    }

    /// Creates a failure for a missing tool, library or device.
    pub fn missing(message: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Missing, message: message.to_string() }
    }

    /// Creates a failure for a child process that ended by a signal.
    pub fn crash(message: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Crash, message: message.to_string() }
    }

    /// Puts a text in front of the message.
    pub fn within(self, place: impl fmt::Display) -> Failure {
        Failure { message: format!("{place}: {}", self.message), ..self }
    }

    /// Returns the exit status.
    pub fn status(&self) -> u8 {
        self.kind as u8
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message.trim_end())
    }
}

/// Errors of the ABI: their kind and message, and the backtrace on further lines.
impl From<ferrite::Error> for Failure {
    fn from(error: ferrite::Error) -> Failure {
        Failure::negative(describe(&error))
    }
}

/// Returns kind, message, backtrace and causes of an error.
pub fn describe(error: &ferrite::Error) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = format!("{}: {}", text(error.kind_bytes()), text(error.message_bytes()));
    let trace = error.with_backtrace(text);
    if !trace.trim().is_empty() {
        out.push_str("\nbacktrace, most recent call first:");
        for line in trace.lines() {
            out.push_str("\n  ");
            out.push_str(line.trim());
        }
    }
    if let Some(cause) = error.cause() {
        out.push_str("\ncaused by ");
        out.push_str(&describe(&cause));
    }
    out
}
