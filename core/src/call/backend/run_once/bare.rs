//! One-time initialisers on bare metal: the handle itself stores the state of the initialisation.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::error::{failed, nested};
use crate::error::Result;
use crate::error::raised_error::Mark;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::{critical, current_thread, pause};

/// Value of a handle while its function runs on a thread without an identifier. While the function
/// runs on a thread with an identifier, the handle stores that identifier, which is an address.
const RUNNING: *mut c_void = ptr::without_provenance_mut(1);
pub(super) const DONE: *mut c_void = ptr::without_provenance_mut(2);

/// Runs `body` unless it has already succeeded for this handle.
///
/// # Safety
/// Same requirements as [`run_once`](super::run_once).
#[inline]
pub(super) unsafe fn run(
    state: &AtomicPtr<c_void>,
    body: unsafe extern "C" fn(data: *mut c_void) -> c_int,
    data: *mut c_void,
) -> Result<()> {
    let before = Mark::now();
    let here = current_thread().map_or(RUNNING, |here| ptr::without_provenance_mut(here.get()));
    for round in 0u32.. {
        match claim(state, here) {
            DONE => break,
            // SAFETY: the caller guarantees `body` and `data`.
            held if held.is_null() => return finish(state, unsafe { body(data) }, before),
            held if held == here && here != RUNNING => return Err(nested()),
            _ => pause(round),
        }
    }
    Ok(())
}

/// Installs `here` in the handle if it is null (compare-and-swap). Returns the previous value.
fn claim(state: &AtomicPtr<c_void>, here: *mut c_void) -> *mut c_void {
    let held = state.load(Ordering::Acquire);
    if !held.is_null() {
        return held;
    }
    critical(|| {
        let held = state.load(Ordering::Acquire);
        if held.is_null() {
            state.store(here, Ordering::Relaxed);
        }
        held
    })
}

fn finish(state: &AtomicPtr<c_void>, status: c_int, before: Mark) -> Result<()> {
    if status == 0 {
        state.store(DONE, Ordering::Release);
        return Ok(());
    }
    state.store(ptr::null_mut(), Ordering::Release);
    Err(failed(status, before))
}
