//! Errors of the command, with the exit status that each kind has.

use std::fmt;

use serde_json::{Value, json};

/// Line in front of a backtrace.
const BACKTRACE: &str = "\nbacktrace, most recent call first:";

/// Result of a step of a command.
pub type Outcome<T> = Result<T, Failure>;

/// Reason why a command failed, and its exit status.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    message: String,
    /// Parts of an error of the ABI, as JSON.
    raised: Option<Value>,
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
    /// The dynamic linker refuses a library.
    Load = 6,
}

impl Kind {
    /// Returns the kind with this exit status; `Negative` for any other status.
    pub fn of_status(status: i32) -> Kind {
        let all = [Kind::Usage, Kind::Input, Kind::Missing, Kind::Crash, Kind::Load];
        all.into_iter().find(|kind| *kind as i32 == status).unwrap_or(Kind::Negative)
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Negative => "failure",
            Kind::Usage => "usage",
            Kind::Input => "input",
            Kind::Missing => "missing",
            Kind::Crash => "crash",
            Kind::Load => "load",
        }
    }
}

impl Failure {
    /// Creates a failure.
    pub fn new(kind: Kind, message: impl fmt::Display) -> Failure {
        Failure { kind, message: message.to_string(), raised: None }
    }

    /// Creates a failure for a negative answer.
    pub fn negative(message: impl fmt::Display) -> Failure {
        Failure::new(Kind::Negative, message)
    }

    /// Creates a failure for wrong arguments.
    pub fn usage(message: impl fmt::Display) -> Failure {
        Failure::new(Kind::Usage, message)
    }

    /// Creates a failure for a file that cannot be read.
    pub fn input(message: impl fmt::Display) -> Failure {
        Failure::new(Kind::Input, message)
    }

    /// Creates a failure for a missing tool, library or device.
    pub fn missing(message: impl fmt::Display) -> Failure {
        Failure::new(Kind::Missing, message)
    }

    /// Creates a failure for a child process that ended by a signal.
    pub fn crash(message: impl fmt::Display) -> Failure {
        Failure::new(Kind::Crash, message)
    }

    /// Creates a failure for a library that the dynamic linker refuses.
    pub fn load(message: impl fmt::Display) -> Failure {
        Failure::new(Kind::Load, message)
    }

    /// Returns the failure as JSON: its kind, exit status and message, and the parts of an error of
    /// the ABI.
    pub fn json(&self) -> Value {
        let mut error = json!({ "kind": self.kind.name(), "status": self.status(), "message": self.to_string() });
        if let Some(raised) = &self.raised {
            // The backtrace is among the parts.
            error["message"] = self.message.split(BACKTRACE).next().into();
            error["raised"] = raised.clone();
        }
        json!({ "error": error })
    }

    /// Prefixes the message with a location.
    pub fn within(self, place: impl fmt::Display) -> Failure {
        Failure { message: format!("{place}: {}", self.message), ..self }
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind
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
        Failure { raised: Some(parts(&error)), ..Failure::negative(describe(&error)) }
    }
}

/// Returns kind, message, backtrace and causes of an error as JSON.
fn parts(error: &ferrite::Error) -> Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let trace = error.with_backtrace(text);
    let frames: Vec<_> = trace.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    json!({
        "kind": text(error.kind_bytes()),
        "message": text(error.message_bytes()),
        "backtrace": frames,
        "cause": error.cause().map(|cause| parts(&cause)),
    })
}

/// Returns kind, message, backtrace and causes of an error.
pub fn describe(error: &ferrite::Error) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut out = format!("{}: {}", text(error.kind_bytes()), text(error.message_bytes()));
    let trace = error.with_backtrace(text);
    if !trace.trim().is_empty() {
        out.push_str(BACKTRACE);
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
