//! The process of one session.
#![forbid(unsafe_code)]

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use ferrite_rpc::server::{self, Limits};
use rustix::process::{Resource, Rlimit, Signal, getpgrp, kill_process_group, setrlimit};
use signal_hook::consts::SIGTERM;
use signal_hook::low_level::pipe;

use super::access::SharedAccess;
use super::descriptors;
use super::files::Files;
use super::options::{Session, SessionOptions};
use super::stream::SessionStream;
use crate::failure::{Failure, Outcome};

/// Runs the command.
///
/// # Errors
/// [`Kind::Load`](crate::failure::Kind::Load) for a library that does not load;
/// [`Kind::Negative`](crate::failure::Kind::Negative) for errors of the system.
pub fn run(session: &Session) -> Outcome<()> {
    let options = &session.options;
    if session.probe {
        return SharedAccess::new(options, Files::new(PathBuf::new())).map(drop);
    }
    let (input, output) = descriptors::take_standard_streams().map_err(Failure::negative)?;
    let folder = session.folder.canonicalize().map_err(Failure::negative)?;
    limit(options).map_err(Failure::negative)?;
    clean_up_when_orphaned(&folder).map_err(Failure::negative)?;
    let access = SharedAccess::new(options, Files::new(folder.clone()))?;
    std::env::set_current_dir(&folder).map_err(Failure::negative)?;
    let mut stream = SessionStream::new(input, output, options.max_packet);
    let data_bytes = options.max_memory.unwrap_or(u64::MAX);
    let mut served = server::Session::new(Limits { data_bytes, ..Limits::DEFAULT });
    served.serve(&mut stream, &access);
    drop(served);
    let _ = fs::remove_dir_all(&folder);
    Ok(())
}

/// Limits memory, and writes no image of a crashed process.
fn limit(options: &SessionOptions) -> io::Result<()> {
    let at_most = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::Core, at_most(0))?;
    if let Some(bytes) = options.max_memory {
        setrlimit(Resource::Data, at_most(bytes))?;
    }
    Ok(())
}

/// Ends the process, its children and its folder when the server is gone, whatever function runs.
fn clean_up_when_orphaned(folder: &Path) -> io::Result<()> {
    let (mut signalled, signal) = UnixStream::pair()?;
    pipe::register(SIGTERM, signal)?;
    let folder = folder.to_path_buf();
    thread::Builder::new().name("end".into()).spawn(move || {
        if signalled.read_exact(&mut [0]).is_ok() {
            let _ = fs::remove_dir_all(&folder);
            let _ = kill_process_group(getpgrp(), Signal::KILL);
        }
    })?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
    Ok(())
}
