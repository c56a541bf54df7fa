//! Symbols of the header section "Static handle initialization": thread-safe one-time
//! initialisation of handles.

use core::ffi::{c_int, c_void};
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::call::init_once::{self, InitFunction};

use crate::boundary::{self, SUCCESS, arg};

/// Initialises a handle exactly once, even if several threads call this concurrently.
///
/// If `*handle_addr` is null, one caller runs `init_func` and stores its result there, while other
/// callers wait. Meant for languages without static constructors. If the handle is initialised
/// already, the call costs one atomic load.
///
/// Returns 0 on success. If `init_func` fails, returns its nonzero status; `init_func` must have
/// raised an error. Returns -1 with an error raised if `init_func` returns 0 without a handle, or
/// if a pointer is null. After a failure, a later call tries again.
///
/// If the process is forked while another thread runs `init_func`, that thread does not exist in
/// the child. The child's first caller runs `init_func` again; effects of the interrupted run
/// remain.
///
/// # Safety
/// `handle_addr` must only be written by this function and `TVMFFIHandleDeinitOnce`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIHandleInitOnce(
    handle_addr: *mut *mut c_void,
    init_func: Option<unsafe extern "C" fn(result: *mut *mut c_void) -> c_int>,
) -> c_int {
    if boundary::FAST_PATHS && !handle_addr.is_null() {
        // SAFETY: not null, so valid; the handle is only written atomically.
        let handle = unsafe { AtomicPtr::from_ptr(handle_addr) }.load(Ordering::Acquire);
        if !handle.is_null() {
            return SUCCESS;
        }
    }
    // SAFETY: contract of the crate and of this function.
    unsafe { init_first(handle_addr, init_func) }
}

/// Slow path of [`TVMFFIHandleInitOnce`]: runs `init_func`, or waits for the thread that runs it.
///
/// # Safety
/// Same requirements as [`TVMFFIHandleInitOnce`].
#[cold]
#[inline(never)]
unsafe extern "C" fn init_first(
    handle_addr: *mut *mut c_void,
    init_func: Option<InitFunction>,
) -> c_int {
    boundary::status_of(|| {
        let handle = boundary::non_null(handle_addr, arg(1, "handle_addr"))?;
        let init = boundary::callback(init_func, arg(2, "init_func"))?;
        // SAFETY: the caller's promise.
        unsafe { init_once::init(handle.as_ptr(), init) }
    })
}

/// Releases a handle exactly once: sets `*handle_addr` to null, and calls `deinit_func` with the
/// previous handle unless it was null.
///
/// Returns 0 if the handle was null. Otherwise returns the status of `deinit_func`, which must
/// raise an error if its status is not 0.
///
/// # Safety
/// Same requirements as `TVMFFIHandleInitOnce`.
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
