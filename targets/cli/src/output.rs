//! Standard output of the command.
#![forbid(unsafe_code)]

use std::io::Write;

use crate::failure::{Failure, Outcome};
use crate::visible;

/// Writes a string to standard output. A reader that has closed the pipe ends the command without
/// an error.
pub fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::negative(format!("cannot write: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a report to standard output, with control sequences made visible.
pub fn print_report(text: &str) -> Outcome<()> {
    print(&visible::visible(text))
}

/// Writes a value to standard output as JSON.
pub fn print_json(value: &impl serde::Serialize) -> Outcome<()> {
    let text = serde_json::to_string_pretty(value).map_err(Failure::negative)?;
    print(&(text + "\n"))
}
