//! Servers that are child processes: a stream in place of a network, ended with the session.
//!
//! The child is started with the numbers of two file descriptors as its last arguments, as TVM's
//! servers for pipes are. Here both are one stream socket, whose other end has time limits, and
//! whose writes raise no signal when the child is gone.

use core::time::Duration;
use std::boxed::Box;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::string::ToString;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, format, fs, process, thread};

use ferrite_core::error::{Error, Result};

use super::channel::Channel;
use super::connect::begin;
use super::errors;
use super::session::Connected;
use super::socket::Socket;
use super::transport::Transport;

/// Number of times that the end of a child is awaited, 5 ms apart, before the child is killed.
const POLLS: u32 = 100;

/// A child process that serves.
struct Server {
    stream: Socket,
    child: Child,
}

/// Starts a server, and begins a session with it.
///
/// # Errors
/// RPCError if the program cannot be started, or does not speak the protocol; MemoryError.
pub(super) fn start(program: &OsStr, arguments: &[&OsStr]) -> Result<Arc<Connected>> {
    let name = program.to_string_lossy();
    let failed = |error: io::Error| {
        errors::rpc(format_args!("Error starting the RPC server {name}: {error}"))
    };
    let server = spawn(program, arguments).map_err(failed)?;
    begin(Channel::new(Box::new(server))?, &[])
}

/// Starts a server whose program is given as bytes, by way of a temporary file.
///
/// # Errors
/// Those of [`start`]; RPCError if the file cannot be written.
pub(super) fn start_bytes(program: &[u8]) -> Result<Arc<Connected>> {
    let path = temporary_path();
    let failed = |error: io::Error| -> Error {
        errors::rpc(format_args!("Error writing the RPC server to {}: {error}", path.display()))
    };
    write_program(&path, program).map_err(failed)?;
    let started = start(path.as_os_str(), &[]);
    // The child runs from the file, which the system keeps until it ends.
    let _ = fs::remove_file(&path);
    started
}

fn temporary_path() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    env::temp_dir().join(format!("ferrite-rpc-{}-{number}", process::id()))
}

fn write_program(path: &Path, program: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
    file.write_all(program)
}

fn spawn(program: &OsStr, arguments: &[&OsStr]) -> io::Result<Server> {
    let (stream, reads) = UnixStream::pair()?;
    let writes = reads.try_clone()?;
    let descriptors = [reads.as_raw_fd(), writes.as_raw_fd()];
    let mut command = Command::new(program);
    command.args(arguments).args(descriptors.map(|descriptor| descriptor.to_string()));
    // SAFETY: the closure makes system calls only, so it may run between fork and exec.
    unsafe { command.pre_exec(move || descriptors.into_iter().try_for_each(keep_open)) };
    Ok(Server { child: command.spawn()?, stream: Socket(stream) })
}

/// Lets a file descriptor stay open in the program that replaces this one.
fn keep_open(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: a system call on a number.
    match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Transport for Server {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.stream.read(buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write(bytes)
    }

    fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<()> {
        self.stream.set_time_limit(limit)
    }
}

impl Drop for Server {
    /// Closes the stream, and kills the child if it does not end by itself.
    fn drop(&mut self) {
        // The child may be gone.
        let _ = self.stream.0.shutdown(Shutdown::Both);
        for _ in 0..POLLS {
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
