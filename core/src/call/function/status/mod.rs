//! Statuses of C functions as results.
//!
//! A C function returns 0, or another number with an error raised: -1 by contract, though some
//! functions return other numbers. Functions that break the contract return a number without
//! raising an error, while the slot may contain an earlier error that was not taken. Such a status
//! is reported by its number.

use core::ffi::c_int;

use crate::error::message::SHORT;
use crate::error::raised_error::Mark;
use crate::error::{Error, Result, raised_error};
use crate::plain_error;

/// Status of a failed C function that has raised an error.
const RAISED: c_int = -1;

/// Status of a failed callback of the host language, by the first releases of upstream: the host
/// language has the error.
#[cfg(feature = "std")]
const ERROR_ALREADY_SET: c_int = -2;

/// Runs a C function and converts its status to a [`Result`].
///
/// # Errors
/// The error that the function raised if its status is not zero; InternalError that names the
/// status if it raised none.
#[inline(always)]
pub fn checked(call: impl FnOnce() -> c_int) -> Result<()> {
    let before = Mark::now();
    let status = call();
    if status == 0 { Ok(()) } else { Err(failure(status, before)) }
}

/// Converts the status of a symbol of the library, or of another function that raises an error with
/// every status but 0.
///
/// # Errors
/// The raised error if the status is not zero.
pub fn check_status(status: c_int) -> Result<()> {
    if status == 0 { Ok(()) } else { Err(take_raised()) }
}

/// Takes the raised error from the thread's slot, after a call that returned a status other than 0.
pub fn take_raised() -> Error {
    raised_error::take().unwrap_or_else(|| silent(RAISED))
}

/// Returns the error of a C function that was called after `before` and returned a status other
/// than 0.
///
/// This is the error that it raised, or an InternalError that names the status.
#[cold]
pub fn failure(status: c_int, before: Mark) -> Error {
    raised_since(status, before).unwrap_or_else(|| silent(status))
}

/// Returns the error of a C function that returned a status other than 0, for callers on hot paths,
/// which took no [`Mark`] before.
///
/// With -1 this is the raised error. With another status, it is an InternalError that names the
/// status and has the raised error, which may be an earlier one, as its cause; builds with short
/// messages drop that.
#[cold]
pub fn failure_unmarked(status: c_int) -> Error {
    raised(status, None).unwrap_or_else(|| silent(status))
}

/// Takes the error raised by a C function that was called after `before` and returned a status
/// other than 0. Returns `None` if it raised none. An earlier error of the thread is dropped.
#[cold]
pub fn raised_since(status: c_int, before: Mark) -> Option<Error> {
    raised(status, before.precedes_raised())
}

/// Takes the raised error if it is new. If that is unknown, status -1 guarantees it.
fn raised(status: c_int, is_new: Option<bool>) -> Option<Error> {
    let raised = raised_error::take()?;
    match is_new {
        Some(true) => Some(raised),
        Some(false) => None,
        None if status == RAISED => Some(raised),
        // Saves flash: the error that may be an earlier one is dropped.
        None if SHORT => None,
        None => Some(silent(status).with_cause_and_context(Some(raised), None)),
    }
}

/// Creates the error of a C function that failed without raising one.
fn silent(status: c_int) -> Error {
    #[cfg(feature = "std")]
    if status == ERROR_ALREADY_SET {
        return already_set();
    }
    plain_error!(
        INTERNAL_ERROR, "A C function returned status {} without raising an error", status;
        "status {}", status
    )
}

/// Creates an error whose kind makes the bindings of the host language raise the error that is set
/// there.
#[cfg(feature = "std")]
fn already_set() -> Error {
    Error::from_parts(crate::__error_site!(), "EnvErrorAlreadySet", &|out| {
        out.put(b"The host language has the error");
    })
}

#[cfg(test)]
mod tests;
