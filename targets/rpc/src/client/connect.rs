//! TCP connections: options, and the handshake.
#![forbid(unsafe_code)]

use core::time::Duration;
use std::boxed::Box;
use std::sync::Arc;

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{AnyView, String, ensure};

use super::channel::Channel;
use super::session::Connected;
use super::transport::Tcp;
use super::{errors, table};
use crate::handshake::{self, HandshakeError, MAX_KEY_BYTES};

/// How to connect to a server.
///
/// ```
/// use core::time::Duration;
/// use ferrite_rpc::client::Options;
///
/// let options = Options { key: "pi", read_timeout: Some(Duration::from_secs(60)), ..Options::default() };
/// assert_eq!(options.connect_timeout, Some(Duration::from_secs(30)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Key of the server, empty by default. A server with another key refuses.
    pub key: &'a str,
    /// Secret of a server that has one.
    pub token: Option<&'a str>,
    /// Time after which the server ends the session; none by default.
    pub session_timeout: Option<Duration>,
    /// Longest time for the connection, and for each answer until the session has begun; 30 seconds
    /// by default.
    pub connect_timeout: Option<Duration>,
    /// Longest time until an answer begins, which includes the time of a call; none by default. A
    /// session that exceeds it ends.
    pub read_timeout: Option<Duration>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            key: "",
            token: None,
            session_timeout: None,
            connect_timeout: Some(Duration::from_secs(30)),
            read_timeout: None,
        }
    }
}

impl Options<'_> {
    /// Returns the key that the client sends, with its options.
    ///
    /// # Errors
    /// ValueError for a token that has a blank, and for a key that is too long; MemoryError.
    fn client_key(&self) -> Result<String> {
        let mut key = Buffer::new();
        key.try_extend_from_slice(b"client:")?;
        key.try_extend_from_slice(self.key.as_bytes())?;
        if let Some(limit) = self.session_timeout {
            // Numbers of integers: those of floats would be 15 KiB of code.
            let (seconds, rest) = (limit.as_secs(), limit.subsec_nanos());
            let option = String::format(format_args!(" -timeout={seconds}.{rest:09}"))?;
            key.try_extend_from_slice(option.as_bytes())?;
        }
        if let Some(token) = self.token {
            ensure!(!token.contains(' '), ValueError, "A token must not contain a blank");
            key.try_extend_from_slice(b" token=")?;
            key.try_extend_from_slice(token.as_bytes())?;
        }
        ensure!(
            key.len() <= MAX_KEY_BYTES,
            ValueError,
            "The key of an RPC session has {} bytes, at most {MAX_KEY_BYTES} are allowed",
            key.len()
        );
        String::from_bytes(&key)
    }
}

/// Connects to a server and begins a session, with the constructor and its arguments that the
/// server is to use.
///
/// # Errors
/// RPCError if the server cannot be reached or refuses; the error of the server; ValueError for
/// invalid options; MemoryError.
pub(super) fn connect(
    host: &str,
    port: u16,
    options: &Options<'_>,
    constructor: &[AnyView<'_>],
) -> Result<Arc<Connected>> {
    let key = options.client_key()?;
    let tcp = Tcp::connect(host, port, options.connect_timeout)?;
    let mut channel = Channel::new(Box::new(tcp))?;
    channel.set_time_limit(options.connect_timeout)?;
    channel.start_waiting();
    let mut server_key = [0; MAX_KEY_BYTES];
    if let Err(refusal) = handshake::connect(&mut channel, key.as_bytes(), &mut server_key) {
        return Err(refused(host, port, options.key, refusal, &mut channel));
    }
    channel.stop_waiting();
    let session = begin(channel, constructor)?;
    session.set_time_limit(options.read_timeout)?;
    Ok(session)
}

/// Begins a session on a stream whose handshake is complete, and enters it in the table.
///
/// # Errors
/// RPCError if there are too many sessions, or the server is gone; the error of the server;
/// ValueError for arguments that cannot be sent; MemoryError.
pub(super) fn begin(channel: Channel, constructor: &[AnyView<'_>]) -> Result<Arc<Connected>> {
    let session = Arc::new(Connected::new(channel));
    session.initialize(constructor)?;
    session.set_number(table::insert(&session)?);
    Ok(session)
}

/// Returns the error for a failed handshake.
#[cold]
fn refused(
    host: &str,
    port: u16,
    key: &str,
    refusal: HandshakeError,
    channel: &mut Channel,
) -> Error {
    /// Answer of a tracker, which is a common mistake.
    const TRACKER: i32 = 0x2F271;
    // What follows the first word of a key may be secret.
    let key = key.split(' ').next().unwrap_or_default();
    match refusal {
        HandshakeError::Mismatch => {
            errors::rpc(format_args!("The RPC server {host}:{port} refuses the key \"{key}\""))
        }
        HandshakeError::Duplicate => errors::rpc(format_args!(
            "The RPC proxy {host}:{port} already has a client with the key \"{key}\""
        )),
        HandshakeError::NotRpc(TRACKER) => errors::rpc(format_args!(
            "{host}:{port} is an RPC tracker: ask it for the address of a server"
        )),
        HandshakeError::NotRpc(_) => {
            errors::rpc(format_args!("{host}:{port} is not an RPC server of TVM"))
        }
        HandshakeError::KeyLength(length) => {
            errors::malformed(format_args!("a key of {length} bytes"))
        }
        HandshakeError::Closed => {
            let reason = channel.take_failure();
            errors::rpc(format_args!(
                "The handshake with {host}:{port} failed: {}",
                reason.message()
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_part_of_the_key() -> Result<()> {
        assert_eq!(Options::default().client_key()?.as_str(), Some("client:"));
        let options = Options {
            key: "pi",
            token: Some("secret"),
            session_timeout: Some(Duration::from_millis(1500)),
            ..Options::default()
        };
        let key = options.client_key()?;
        assert_eq!(key.as_str(), Some("client:pi -timeout=1.500000000 token=secret"));
        Ok(())
    }

    #[test]
    fn keys_that_no_server_reads_are_errors() {
        let long = "k".repeat(MAX_KEY_BYTES);
        for options in [
            Options { token: Some("two words"), ..Options::default() },
            Options { key: &long, ..Options::default() },
        ] {
            let error = options.client_key().unwrap_err();
            assert_eq!(error.kind().as_str(), "ValueError");
        }
    }
}
