//! Invalid uses of the symbols by C callers.

mod arguments;
#[cfg(feature = "host")]
mod counted;
#[cfg(feature = "modules")]
mod environment;

use std::ffi::c_int;

use ferrite_core::error::raised_error;

/// Asserts that the call failed, and takes its raised error, which must be of this kind.
#[track_caller]
fn raises(kind: &str, status: c_int) {
    assert_eq!(status, -1);
    let error = raised_error::take().expect("an error is raised");
    assert_eq!(String::from_utf8_lossy(error.kind_bytes()), kind, "{error}");
}
