//! `ferrite rpc serve`: a process listens, and each session has a process and a folder.

mod options;

pub use options::Serve;

use crate::failure::{Failure, Outcome};

/// Runs the command.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for options that contradict each other.
pub fn run(options: &Serve) -> Outcome<()> {
    options.check()?;
    Err(Failure::negative("sessions are not served yet"))
}
