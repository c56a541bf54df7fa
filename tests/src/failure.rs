//! Test failures, printed verbatim: tool output has several lines.

use std::fmt;

/// A failure message. `Debug`, which the test harness prints, shows the text itself.
#[derive(Clone)]
pub struct Failure(String);

/// Result of a test step, or the reason why it failed.
pub type Outcome<T> = Result<T, Failure>;

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}
