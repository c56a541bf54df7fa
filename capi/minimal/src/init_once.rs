//! Symbols of the header section "Static handle initialization", in the profile `minimal`.

use core::ffi::{c_int, c_void};

use crate::engine::{Refusal, init_once};
use ferrite_core::call::init_once::{DeinitFunction, InitFunction};

use super::boundary::{callback, fail, non_null};

/// Initialises a handle exactly once. Returns -1 with RuntimeError raised if the handle is being
/// initialised by interrupted code, since waiting is impossible.
///
/// # Safety
/// `handle_addr` must only be written by this function and `TVMFFIHandleDeinitOnce`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIHandleInitOnce(
    handle_addr: *mut *mut c_void,
    init_func: Option<InitFunction>,
) -> c_int {
    let outcome = (|| {
        let (handle, init) = (non_null(handle_addr)?, callback(init_func)?);
        // SAFETY: contract of the crate and of this function.
        unsafe { init_once::init(handle.as_ptr(), init) }
    })();
    outcome.unwrap_or_else(fail)
}

/// Releases a handle exactly once.
///
/// # Safety
/// Same requirements as `TVMFFIHandleInitOnce`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIHandleDeinitOnce(
    handle_addr: *mut *mut c_void,
    deinit_func: Option<DeinitFunction>,
) -> c_int {
    let Some(deinit_func) = deinit_func.filter(|_| !handle_addr.is_null()) else {
        return fail(Refusal::ARGUMENT);
    };
    // SAFETY: contract of the crate and of this function.
    unsafe {
        let handle = init_once::take(handle_addr);
        if handle.is_null() { 0 } else { deinit_func(handle) }
    }
}
