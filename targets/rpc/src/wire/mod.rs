//! Packets and sequences of values over a stream of bytes, for servers and clients.
//!
//! A packet is a `u64` length, a code ([`code`]) and content; a sequence is a count and values,
//! each with its type index. Integers are little endian. Nothing here allocates, and nothing is
//! read beyond the length of a packet.
#![forbid(unsafe_code)]

mod packet;
mod send;

pub use packet::{Fault, Packet, TensorHead};
pub use send::{Item, TensorItem, send, send_bytes, send_exception};

/// The version of the protocol that InitServer carries.
pub const VERSION: &[u8] = b"0.8.0";

/// Type index of an object reference in a sequence: the handle of an object of the server.
pub const OBJECT_REF: i32 = 115;

/// Codes of packets.
pub mod code {
    /// Ends the session. Has no answer.
    pub const SHUTDOWN: i32 = 1;
    /// Begins the session, with the version of the protocol and a session constructor.
    pub const INIT_SERVER: i32 = 2;
    /// Calls a function by its handle.
    pub const CALL_FUNCTION: i32 = 3;
    /// Answers with values.
    pub const RETURN: i32 = 4;
    /// Answers with an error, one string.
    pub const EXCEPTION: i32 = 5;
    /// Copies elements of a tensor to the client.
    pub const COPY_FROM_REMOTE: i32 = 6;
    /// Copies elements from the client to a tensor.
    pub const COPY_TO_REMOTE: i32 = 7;
    /// Answers with the elements of a tensor.
    pub const COPY_ACK: i32 = 8;
    /// Looks up a global function.
    pub const GET_GLOBAL: i32 = 9;
    /// Releases an object by its handle.
    pub const FREE_HANDLE: i32 = 10;
    /// Makes a device the current one.
    pub const SET_DEVICE: i32 = 11;
    /// Reads an attribute of a device.
    pub const GET_ATTRIBUTE: i32 = 12;
    /// Allocates data on a device.
    pub const ALLOCATE_DATA: i32 = 13;
    /// Frees data of a device.
    pub const FREE_DATA: i32 = 14;
    /// Waits for a stream of a device.
    pub const SYNCHRONIZE: i32 = 15;
    /// Copies between two tensors of the server.
    pub const COPY_AMONG_REMOTE: i32 = 16;
    /// Allocates the data of a tensor on a device.
    pub const ALLOCATE_TENSOR: i32 = 17;
    /// Creates a stream.
    pub const CREATE_STREAM: i32 = 18;
    /// Frees a stream.
    pub const FREE_STREAM: i32 = 19;
    /// Makes a stream the current one of a device.
    pub const SET_STREAM: i32 = 20;
    /// Returns the current stream of a device.
    pub const GET_STREAM: i32 = 21;
}

/// The stream has ended or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// A stream of bytes to a peer: a socket, a pipe, a serial line.
///
/// An answer is written in several pieces, followed by one [`flush`](Stream::flush): a stream that
/// collects them until then needs one system call for a packet.
pub trait Stream {
    /// Fills `target` from the stream.
    ///
    /// # Errors
    /// [`Closed`] if the stream ends or fails before.
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed>;

    /// Writes bytes. They may stay in a buffer until [`flush`](Stream::flush).
    ///
    /// # Errors
    /// [`Closed`] if the peer is gone.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed>;

    /// Sends everything that was written. Called at the end of each packet.
    ///
    /// # Errors
    /// [`Closed`] if the peer is gone.
    fn flush(&mut self) -> Result<(), Closed> {
        Ok(())
    }
}

impl<S: Stream + ?Sized> Stream for &mut S {
    fn read(&mut self, target: &mut [u8]) -> Result<(), Closed> {
        (**self).read(target)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Closed> {
        (**self).write(bytes)
    }

    fn flush(&mut self) -> Result<(), Closed> {
        (**self).flush()
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
