//! One session on a pair of file descriptors, for a client that started the server.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::Stdio;

use ferrite_rpc::wire::{Closed, Stream, send_exception};

use super::descriptors;
use super::folder::ServerFolder;
use super::options::Serve;
use super::process::{self, Bounds};
use crate::failure::{Failure, Outcome};
use crate::rpc::log::note;

/// Serves one session.
///
/// # Errors
/// [`Kind::Usage`](crate::failure::Kind::Usage) for descriptors that are not open; errors of
/// starting the session.
pub fn run(options: &Serve, folder: &ServerFolder, stop: &OwnedFd) -> Outcome<()> {
    let (input, output) = streams(options)?;
    let serve = || {
        let mut command = process::command(options, folder.path())?;
        command.stdin(Stdio::from(input)).stdout(Stdio::from(output.try_clone()?));
        process::run(command, &Bounds { limit: options.timeout, client: None, stop: stop.as_fd() })
    };
    let end = serve().map_err(|error| Failure::negative(format!("no session: {error}")))?;
    match end.message() {
        None => Ok(()),
        Some(message) => {
            note("session", &message);
            let _ = send_exception(&mut Output(output.into()), b"", message.as_bytes());
            Err(Failure::negative(message))
        }
    }
}

fn streams(options: &Serve) -> Outcome<(OwnedFd, OwnedFd)> {
    let failed = |error: io::Error| Failure::usage(format!("the pipe is not open: {error}"));
    match options.pipe.as_deref() {
        Some(&[input, output]) => {
            let input = descriptors::inherited(input).map_err(failed)?;
            Ok((input, descriptors::inherited(output).map_err(failed)?))
        }
        _ => {
            let (input, output) = (io::stdin(), io::stdout());
            let input = input.as_fd().try_clone_to_owned().map_err(failed)?;
            Ok((input, output.as_fd().try_clone_to_owned().map_err(failed)?))
        }
    }
}

/// Stream to a client that only reads.
struct Output(File);

impl Stream for Output {
    fn read(&mut self, _: &mut [u8]) -> Result<(), Closed> {
        Err(Closed)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        self.0.write_all(bytes).map_err(|_| Closed)
    }
}
