//! Errors of initialisers.
#![forbid(unsafe_code)]

use crate::error::Error;
use crate::plain_error;

/// Creates the RuntimeError for an initialiser that requests its own handle.
#[cold]
pub(super) fn nested() -> Error {
    plain_error!(RUNTIME_ERROR, "an initialiser asks for what it is initialising")
}

/// Creates the RuntimeError for an initialiser that fails without an error.
pub(super) fn failed() -> Error {
    plain_error!(RUNTIME_ERROR, "an initialiser failed without raising an error")
}
