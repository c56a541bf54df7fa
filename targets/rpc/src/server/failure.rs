//! The reasons why a request failed, and their answers.
#![forbid(unsafe_code)]

use ferrite_core::Error;

use crate::wire::{Closed, Fault, Stream, send_exception};

/// The reason why a request failed. Takes two words, which functions return in registers.
pub(super) enum Failure {
    /// The stream ended or failed: there is no answer.
    Closed,
    /// An error with its kind, as a constant string.
    Refused(&'static &'static str),
    /// An error that a function raised.
    Raised(Error),
}

const _: () = assert!(size_of::<Failure>() == 2 * size_of::<usize>());

/// Creates the error with a constant kind and message; the second string is that of builds without
/// `alloc`.
macro_rules! refused {
    ($text:literal) => {
        $crate::server::failure::Failure::Refused(&$text)
    };
    ($text:literal, $short:literal) => {
        $crate::server::failure::Failure::Refused(if cfg!(feature = "alloc") {
            &$text
        } else {
            &$short
        })
    };
}
pub(super) use refused;

/// The packet does not have the content that its code requires.
pub(super) const MALFORMED: Failure = refused!("ValueError: malformed packet");

impl From<Closed> for Failure {
    fn from(_: Closed) -> Failure {
        Failure::Closed
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        match fault {
            Fault::Closed => Failure::Closed,
            Fault::Malformed => MALFORMED,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Raised(error)
    }
}

impl Failure {
    /// Sends the error as the answer.
    pub(super) fn answer(&self, stream: &mut impl Stream) -> Result<(), Closed> {
        let (kind, message): (&[u8], &[u8]) = match self {
            Failure::Closed => return Err(Closed),
            Failure::Refused(text) => (b"", text.as_bytes()),
            Failure::Raised(error) => (error.kind_bytes(), error.message_bytes()),
        };
        send_exception(stream, kind, message)
    }
}

/// Returns the error for a packet whose arguments take more memory than the session has.
#[cold]
#[cfg(feature = "alloc")]
pub(super) fn too_long(bytes: usize) -> Failure {
    Failure::Raised(ferrite_core::error!(
        MemoryError,
        "the packet needs {bytes} bytes of memory, more than the session has for arguments"
    ))
}

/// Returns the error for a packet whose arguments take more memory than the session has.
#[cfg(not(feature = "alloc"))]
pub(super) fn too_long(_: usize) -> Failure {
    refused!("MemoryError: the packet is too long")
}
