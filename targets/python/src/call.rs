//! Calls of `Function`: arguments into values on the stack, one call of the library, the result.
//!
//! A call that has an argument without a fast conversion, or a keyword, goes to upstream's
//! function.

use crate::arguments::{Arguments, Values};
use crate::exchange::{self, Ended};
use crate::python::word;
use crate::state::{self, HANDLE, RELEASE_LOCK};
use crate::{errors, results, vectorcall};
use core::ffi::{c_int, c_void};
use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload};
use pyo3_ffi::*;

/// The value None.
pub const NONE: TVMFFIAny =
    TVMFFIAny { type_index: 0, small_str_len: 0, payload: TVMFFIAnyPayload { v_uint64: 0 } };

/// Slot `tp_call` of `Function`.
///
/// # Safety
/// CPython must call it, with the interpreter's lock.
pub unsafe extern "C" fn call(
    function: *mut PyObject,
    arguments: *mut PyObject,
    keywords: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: `arguments` is a tuple, by the contract of the slot; its items live as long as it.
    let done = unsafe {
        if Py_TYPE(function) == state::get().function {
            vectorcall::fill(function);
        }
        let items = (&raw mut (*arguments.cast::<PyTupleObject>()).ob_item).cast();
        let count = PyTuple_GET_SIZE(arguments) as usize;
        if keywords.is_null() { invoke(function, items, count) } else { None }
    };
    match done {
        Some(result) => result,
        // SAFETY: the slot that was replaced, called as CPython would.
        None => unsafe { (state::get().call)(function, arguments, keywords) },
    }
}

/// Calls a function. Returns `None` if upstream's function has to do it: nothing has happened then.
///
/// # Safety
/// The extension must be active, the lock held, and `function` must be an instance of `Function` or
/// of a subclass; `items` must point to `count` objects, which the caller must keep alive.
pub unsafe fn invoke(
    function: *mut PyObject,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: the state is set, since this replaced a slot; `function` is an object. A subclass may
    // have a `release_gil` of its own.
    if unsafe { Py_TYPE(function) != state::get().function } {
        return None;
    }
    // SAFETY: as the caller guarantees.
    unsafe { invoke_exact(function, items, count) }
}

/// Calls a function as `invoke` does, without a check of its class.
///
/// # Safety
/// Same requirements as `invoke`; `function` must be an instance of `Function` itself.
#[inline(always)]
pub unsafe fn invoke_exact(
    function: *mut PyObject,
    items: *const *mut PyObject,
    count: usize,
) -> Option<*mut PyObject> {
    // SAFETY: the layout of `Function` was probed.
    let handle: *mut c_void = unsafe { word(function, HANDLE) };
    if handle.is_null() {
        return None;
    }
    let mut room = Values::uninit();
    let mut arguments = Arguments::new(&mut room);
    // SAFETY: as the caller guarantees.
    if !unsafe { arguments.push_all(items, count) } {
        return None;
    }
    let mut result = NONE;
    let api = arguments.api();
    let values = (arguments.as_ptr(), count as i32);
    // SAFETY: the layout of `Function` was probed; the arguments are borrowed values.
    let status = unsafe {
        let releases = word::<c_int>(function, RELEASE_LOCK) != 0;
        if api.is_null() {
            enter(handle, releases, values.0, values.1, &mut result)
        } else {
            match exchange::call((handle, releases), values, api, arguments.foreign(), &mut result)
            {
                Ended::Status(status) => status,
                Ended::Raised => return Some(core::ptr::null_mut()),
            }
        }
    };
    // SAFETY: a call that succeeded passes its result to the caller; one that failed has raised.
    Some(unsafe {
        if status != 0 {
            return Some(errors::raise_after(status, errors::Frame::Call, arguments));
        }
        drop(arguments);
        if api.is_null() {
            results::from_owned(result)
        } else {
            results::for_framework(result, api)
        }
    })
}

/// Calls a function of the library, without the interpreter's lock if the `Function` releases it.
///
/// # Safety
/// The extension must be active, the lock held, and `handle` must be a live function; `values` must
/// point to `count` valid values, which must stay valid while the lock is released.
#[inline(always)]
pub unsafe fn enter(
    handle: *mut c_void,
    releases: bool,
    values: *const TVMFFIAny,
    count: i32,
    result: &mut TVMFFIAny,
) -> c_int {
    // SAFETY: as the caller guarantees.
    unsafe {
        let call = state::get().library.call;
        if releases {
            let thread = PyEval_SaveThread();
            let status = call(handle, values, count, result);
            PyEval_RestoreThread(thread);
            status
        } else {
            call(handle, values, count, result)
        }
    }
}
