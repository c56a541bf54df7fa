//! Errors of initialisers.
#![forbid(unsafe_code)]

use core::ffi::c_int;

use crate::call::function;
use crate::error::Error;
use crate::error::raised_error::Mark;
use crate::plain_error;

/// Creates the RuntimeError for an initialiser that requests its own handle.
#[cold]
pub(super) fn nested() -> Error {
    plain_error!(RUNTIME_ERROR, "an initialiser asks for what it is initialising")
}

/// Returns the error of an initialiser that was called after `before` and returned a status other
/// than 0: the error that it raised, or a RuntimeError.
#[cold]
pub(super) fn failed(status: c_int, before: Mark) -> Error {
    function::raised_since(status, before).unwrap_or_else(|| {
        plain_error!(
            RUNTIME_ERROR, "an initialiser failed without raising an error: status {}", status;
            "initialiser failed"
        )
    })
}
