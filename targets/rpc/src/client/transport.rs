//! Byte streams to a server: TCP connections, and what programs provide.
#![forbid(unsafe_code)]

use core::time::Duration;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};

use ferrite_core::error::{Error, Result};

use super::errors;

/// A connected stream of bytes to a server. A session uses it from one thread at a time.
pub trait Transport: Send + 'static {
    /// Reads at least one byte, at most `buffer.len()`. Returns 0 at the end of the stream.
    ///
    /// # Errors
    /// Any; the session ends.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// Any; the session ends.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Sets the longest time that one read or write may wait; `None` waits as long as the stream
    /// is open. The default implementation has no time limit.
    ///
    /// # Errors
    /// Any.
    fn set_time_limit(&mut self, _limit: Option<Duration>) -> Result<()> {
        Ok(())
    }
}

/// A TCP connection.
#[derive(Debug)]
pub(super) struct Tcp(TcpStream);

impl Tcp {
    /// Connects to the first address of `host` that accepts within the time limit.
    ///
    /// # Errors
    /// RPCError if there is no such host, or none of its addresses accepts.
    pub(super) fn connect(host: &str, port: u16, limit: Option<Duration>) -> Result<Tcp> {
        let refused = |error: &io::Error| errors::transport("connecting", host, port, error);
        let addresses = (host, port).to_socket_addrs().map_err(|error| refused(&error))?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in addresses {
            let connected = match limit {
                Some(limit) => TcpStream::connect_timeout(&address, limit),
                None => TcpStream::connect(address),
            };
            match connected {
                Ok(stream) => {
                    // Requests are small and each is waited for.
                    stream.set_nodelay(true).map_err(|error| refused(&error))?;
                    return Ok(Tcp(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(refused(&last))
    }
}

impl Transport for Tcp {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        read(&mut self.0, buffer)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes).map_err(|error| stream_error("writing to", &error))
    }

    fn set_time_limit(&mut self, limit: Option<Duration>) -> Result<()> {
        let set = |stream: &TcpStream| {
            stream.set_read_timeout(limit)?;
            stream.set_write_timeout(limit)
        };
        set(&self.0).map_err(|error| stream_error("setting the time limit of", &error))
    }
}

/// Reads from a stream, again if a signal interrupts it.
///
/// # Errors
/// RPCError.
pub(super) fn read(stream: &mut impl Read, buffer: &mut [u8]) -> Result<usize> {
    loop {
        match stream.read(buffer) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(stream_error("reading from", &error)),
        }
    }
}

/// Returns the RPCError for a failed operation on a connected stream.
pub(super) fn stream_error(doing: &str, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => gone(),
        _ => errors::rpc(format_args!("Error {doing} the RPC server: {error}")),
    }
}

/// Returns the RPCError for a stream that the server closed.
#[cold]
pub(super) fn gone() -> Error {
    errors::rpc(format_args!("The RPC server closed the connection"))
}

/// Returns the RPCError for a server that exceeds a time limit.
#[cold]
pub(super) fn late() -> Error {
    errors::rpc(format_args!("The RPC server did not answer within the time limit"))
}
