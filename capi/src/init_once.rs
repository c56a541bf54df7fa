//! Section "Static handle initialization": handles made once.

use core::ffi::{c_int, c_void};
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::init_once::{self, InitFunction};

use crate::boundary::{self, SUCCESS, arg};

/// Makes a handle once, however many threads ask for it.
///
/// While `*handle_addr` is null, one caller runs `init_func` and stores the handle that it makes, and the others wait.
/// For languages without static constructors. Reading a handle that is there costs one load.
///
/// Returns 0; what `init_func` returns when that is not 0, which has raised its error then; or -1 with an error raised when it
/// returns 0 without a handle, or for a null pointer. A later call tries again.
///
/// A child process that was forked while another thread was in `init_func` does not have that thread: the first caller there runs
/// `init_func` anew, and what was half made stays as it was.
///
/// # Safety
/// `handle_addr` is written by this function and `TVMFFIHandleDeinitOnce` only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIHandleInitOnce(
    handle_addr: *mut *mut c_void,
    init_func: Option<unsafe extern "C" fn(result: *mut *mut c_void) -> c_int>,
) -> c_int {
    if boundary::SHORT_CUTS && !handle_addr.is_null() {
        // SAFETY: not null, so valid; others write the handle atomically.
        let handle = unsafe { AtomicPtr::from_ptr(handle_addr) }.load(Ordering::Acquire);
        if !handle.is_null() {
            return SUCCESS;
        }
    }
    // SAFETY: contract of the crate and of this function.
    unsafe { init_first(handle_addr, init_func) }
}

/// Makes a handle that is not there yet.
///
/// # Safety
/// As for [`TVMFFIHandleInitOnce`].
#[cfg_attr(feature = "speed", cold, inline(never))]
unsafe extern "C" fn init_first(handle_addr: *mut *mut c_void, init_func: Option<InitFunction>) -> c_int {
    boundary::status_of(|| {
        let handle = boundary::non_null(handle_addr, arg(1, "handle_addr"))?;
        let init = boundary::callback(init_func, arg(2, "init_func"))?;
        // SAFETY: as the caller vouches.
        unsafe { init_once::init(handle.as_ptr(), init) }
    })
}

/// Takes a handle away once: sets `*handle_addr` to null and calls `deinit_func` with what was there, unless it was null.
///
/// Returns 0 when there was nothing to do, otherwise what `deinit_func` returns, which raises an error when it is nonzero.
///
/// # Safety
/// As for `TVMFFIHandleInitOnce`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIHandleDeinitOnce(
    handle_addr: *mut *mut c_void,
    deinit_func: Option<unsafe extern "C" fn(handle: *mut c_void) -> c_int>,
) -> c_int {
    boundary::status_of(|| {
        let handle = boundary::non_null(handle_addr, arg(1, "handle_addr"))?;
        let deinit = boundary::callback(deinit_func, arg(2, "deinit_func"))?;
        // SAFETY: contract of the crate and of this function.
        Ok(unsafe { init_once::deinit(handle.as_ptr(), deinit) })
    })
}
