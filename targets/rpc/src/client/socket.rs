//! Stream sockets between this process and a child process, or a thread.

use core::time::Duration;
use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use ferrite_core::error::Result;

use super::transport::{self, Transport};

/// One end of a stream socket. Writes raise no signal when the other end is closed. Dropping it
/// closes the stream in both directions.
pub(super) struct Socket(pub(super) UnixStream);

/// Writes to a socket. Returns the number of bytes.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn send(stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    use std::os::fd::AsRawFd;

    let (start, count) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: the socket is open, and the bytes are borrowed until the call returns.
    let sent = unsafe { libc::send(stream.as_raw_fd(), start, count, libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Writes to a socket. The standard library disables the signal.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn send(mut stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    io::Write::write(&mut stream, bytes)
}

impl Transport for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        transport::read(&mut self.0, buffer)
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match send(&self.0, bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(transport::stream_error("writing to", &error)),
            }
        }
        Ok(())
    }

    fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<()> {
        let set = self.0.set_read_timeout(limit).and_then(|()| self.0.set_write_timeout(limit));
        set.map_err(|error| transport::stream_error("setting the time limit of", &error))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The other end may be gone.
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
