//! Errors of sessions: those of the connection, and those that the server raised.
#![forbid(unsafe_code)]

use core::fmt;
use std::io;

use ferrite_core::error::Error;
use ferrite_core::platform::memory::{AllocError, Buffer};

use crate::wire::Fault;

/// Kind of the errors of a connection, and of remote errors without a kind.
pub(super) const RPC_ERROR: &str = "RPCError";

/// Longest name of an error kind.
const KIND_BYTES: usize = 64;

/// Creates an RPCError.
#[cold]
pub(super) fn rpc(message: fmt::Arguments<'_>) -> Error {
    Error::new(RPC_ERROR, message)
}

/// Creates the RPCError for an answer that breaks the protocol.
#[cold]
pub(super) fn malformed(what: fmt::Arguments<'_>) -> Error {
    rpc(format_args!("The RPC server sent a malformed packet: {what}"))
}

/// Creates the RPCError for a session that ended.
#[cold]
pub(super) fn closed() -> Error {
    rpc(format_args!("The RPC session is closed"))
}

/// Creates the RPCError for a failed connection.
#[cold]
pub(super) fn transport(doing: &str, host: &str, port: u16, error: &io::Error) -> Error {
    rpc(format_args!("Error {doing} to the RPC server {host}:{port}: {error}"))
}

/// Creates the error that the server raised: with its kind if the string is `KIND: message`,
/// otherwise an RPCError.
#[cold]
pub(super) fn remote(text: &[u8]) -> Error {
    match kind_of(text) {
        Some((kind, message)) => Error::from_bytes(kind, message, b""),
        None => without_kind(text),
    }
}

/// Creates the RPCError for a remote error whose kind is unknown, as TVM's client does.
fn without_kind(text: &[u8]) -> Error {
    let compose = || -> Result<Buffer<u8>, AllocError> {
        let mut message = Buffer::new();
        message.try_extend_from_slice(b"Error caught from RPC call:\n")?;
        message.try_extend_from_slice(text)?;
        Ok(message)
    };
    match compose() {
        Ok(message) => Error::from_bytes(RPC_ERROR.as_bytes(), &message, b""),
        Err(refused) => refused.into(),
    }
}

/// Splits a string that begins with the name of an error class, a colon and a blank.
fn kind_of(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().take(KIND_BYTES).position(|byte| *byte == b':')?;
    let (kind, rest) = text.split_at(end);
    let message = rest.strip_prefix(b":")?;
    let is_name = kind.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_class = kind.first()?.is_ascii_uppercase() && kind.ends_with(b"Error");
    (is_name && is_class).then(|| (kind, message.strip_prefix(b" ").unwrap_or(message)))
}

/// Reason why an answer is not the expected one.
pub(super) enum Refusal {
    /// Nothing more can be read: the session ends.
    Broken(Fault),
    /// The packet can be skipped: the session goes on.
    Error(Error),
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Broken(fault)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Error(error)
    }
}

/// Result of reading an answer.
pub(super) type Read<T> = core::result::Result<T, Refusal>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_errors_keep_their_kind() {
        for (text, kind, message) in [
            ("ValueError: abc", "ValueError", "abc"),
            ("MyError:\n  x: 1", "MyError", "\n  x: 1"),
            (
                "RPCSessionTimeoutError: Your 1.0s session",
                "RPCSessionTimeoutError",
                "Your 1.0s session",
            ),
            ("abc", "RPCError", "Error caught from RPC call:\nabc"),
            ("error: abc", "RPCError", "Error caught from RPC call:\nerror: abc"),
            (
                "Check failed: a == b",
                "RPCError",
                "Error caught from RPC call:\nCheck failed: a == b",
            ),
            ("/tmp/xError: b", "RPCError", "Error caught from RPC call:\n/tmp/xError: b"),
            (": b", "RPCError", "Error caught from RPC call:\n: b"),
            ("", "RPCError", "Error caught from RPC call:\n"),
        ] {
            let error = remote(text.as_bytes());
            assert_eq!((error.kind_bytes(), error.message()), (kind.as_bytes(), message), "{text}");
        }
    }
}
