//! Lines of a server's log, on standard error: what comes from peers has no control characters.
#![forbid(unsafe_code)]

use std::fmt;

use crate::visible;

/// Writes a line about a peer.
pub fn note(peer: impl fmt::Display, event: impl fmt::Display) {
    eprintln!("rpc: {peer}: {}", visible::line(&event.to_string()));
}
