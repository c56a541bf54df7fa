//! One-time initialisers on hosts. They share the list of initialisations in progress with handles
//! initialised once (`init_once`), so that a forked child abandons the initialisations of other
//! threads.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::error::{failed, nested};
use crate::call::init_once::{IN_PROGRESS, in_progress};
use crate::error::Result;
use crate::error::raised_error::Mark;
use crate::platform::sync::atomic::AtomicPtr;

/// Value of a handle whose function has succeeded.
pub(super) const DONE: *mut c_void = ptr::without_provenance_mut(2);

/// Runs `body` unless it has already succeeded for this handle.
///
/// # Safety
/// Same requirements as [`run_once`](super::run_once).
pub(super) unsafe fn run(
    state: &AtomicPtr<c_void>,
    body: unsafe extern "C" fn(data: *mut c_void) -> c_int,
    data: *mut c_void,
) -> Result<()> {
    let before = Mark::now();
    let outcome = in_progress::init(&IN_PROGRESS, state, |done| {
        // SAFETY: the caller guarantees `body` and `data`; `init` passes a valid result pointer.
        unsafe {
            let status = body(data);
            done.write(DONE);
            status
        }
    });
    match outcome {
        Ok(0) => Ok(()),
        Ok(status) => Err(failed(status, before)),
        Err(_) => Err(nested()),
    }
}
