//! Symbols of the header section "Basic function calling API", in the profile `minimal`.

use core::ffi::{c_int, c_void};

use crate::engine::{self, Refusal, Result, names};
use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFunctionCell, TVMFFIObject, TVMFFIObjectHandle,
    TVMFFISafeCallType,
};

use super::boundary::{bytes, callback, fail, function, non_null, status};
use super::object::TVMFFIObjectDecRef;

/// Creates a function object from a C function and a context pointer.
///
/// Raises MemoryError if `FERRITE_FUNCTIONS` function objects are alive already.
///
/// # Safety
/// `safe_call` and `deleter` must be callable with `self` while the object lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionCreate(
    self_: *mut c_void,
    safe_call: Option<TVMFFISafeCallType>,
    deleter: Option<unsafe extern "C" fn(self_: *mut c_void)>,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    status(|| {
        let (safe_call, out) = (callback(safe_call)?, non_null(out)?);
        // SAFETY: contract of this function.
        let function = unsafe { engine::create_function(self_, safe_call, deleter)? };
        // SAFETY: contract of the crate.
        unsafe { out.write(function.as_ptr().cast()) };
        Ok(())
    })
}

/// Registers a global function under a name. The name is not copied, since firmware has its names
/// in flash.
///
/// Registering a name again is an error unless `allow_override` is not 0, even with the same
/// function. Raises MemoryError if the table contains `FERRITE_NAMES` names already.
///
/// # Safety
/// The name must stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionSetGlobal(
    name: *const TVMFFIByteArray,
    f: TVMFFIObjectHandle,
    allow_override: c_int,
) -> c_int {
    status(|| {
        // SAFETY: contract of the crate; the table owned the previous function.
        unsafe {
            let previous = names::set(bytes(name)?, function(f)?, allow_override != 0)?;
            if !previous.is_null() {
                TVMFFIObjectDecRef(previous.cast());
            }
        }
        Ok(())
    })
}

/// Finds a global function by name. Returns 0 and stores the function, or null, in `out`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionGetGlobal(
    name: *const TVMFFIByteArray,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: contract of the crate.
    let name = match unsafe { bytes(name) } {
        Ok(name) if !out.is_null() => name,
        _ => return fail(Refusal::ARGUMENT),
    };
    // SAFETY: contract of the crate.
    unsafe { out.write(names::get(name).cast()) };
    0
}

/// Calls a function object. Returns its status: 0, or -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionCall(
    func: TVMFFIObjectHandle,
    args: *mut TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: contract of the crate.
    if let Err(refusal) = unsafe { check_call(func, args, num_args, result) } {
        return fail(refusal);
    }
    // SAFETY: a function object has its cell, with a call in it, after the header (ABI). In tail
    // position, so that this is a jump.
    unsafe {
        let cell = func.cast::<TVMFFIObject>().add(1).cast::<TVMFFIFunctionCell>();
        (*cell).safe_call.unwrap_unchecked()(func, args, num_args, result)
    }
}

/// Checks the arguments of [`TVMFFIFunctionCall`].
///
/// # Safety
/// `func` must be null or point to a live object.
#[inline(always)]
unsafe fn check_call(
    func: TVMFFIObjectHandle,
    args: *mut TVMFFIAny,
    num_args: i32,
    result: *mut TVMFFIAny,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { function(func)? };
    if result.is_null() || num_args < 0 || (args.is_null() && num_args != 0) {
        return Err(Refusal::ARGUMENT);
    }
    Ok(())
}
