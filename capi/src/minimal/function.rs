//! Section "Basic function calling API".

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{
    TVMFFIAny, TVMFFIByteArray, TVMFFIFunctionCell, TVMFFIObjectHandle, TVMFFISafeCallType,
};
use ferrite_core::minimal::{self, Raised, Refusal, names};

use super::boundary::{bytes, callback, fail, function, non_null, status};

/// Makes a function object out of a C function and its state.
///
/// MemoryError when `FERRITE_FUNCTIONS` of them are alive.
///
/// # Safety
/// `safe_call` and `deleter` may be called with `self` while the object lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionCreate(
    self_: *mut c_void,
    safe_call: Option<TVMFFISafeCallType>,
    deleter: Option<unsafe extern "C" fn(self_: *mut c_void)>,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    status(|| {
        let (out, safe_call) = (non_null(out)?, callback(safe_call)?);
        // SAFETY: contract of this function.
        let function = unsafe { minimal::create_function(self_, safe_call, deleter) };
        if function.is_null() {
            return Err(Raised::FAILURE);
        }
        // SAFETY: contract of the crate.
        unsafe { out.write(function.cast()) };
        Ok(())
    })
}

/// Registers a global function under a name, which is not copied: names of firmware are in flash.
///
/// The same function again is refused too, unless `allow_override` is other than 0. /// MemoryError when there are `FERRITE_NAMES` names.
///
/// # Safety
/// The name stays where it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionSetGlobal(
    name: *const TVMFFIByteArray,
    f: TVMFFIObjectHandle,
    allow_override: c_int,
) -> c_int {
    // SAFETY: contract of the crate.
    status(|| unsafe { names::set(bytes(name)?, function(f)?, allow_override != 0) })
}

/// Finds a global function by name.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIFunctionGetGlobal(
    name: *const TVMFFIByteArray,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    status(|| {
        // SAFETY: contract of the crate.
        unsafe {
            let (name, out) = (bytes(name)?, non_null(out)?);
            out.write(names::get(name, true).cast());
        }
        Ok(())
    })
}

/// Calls a function object.
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
    let function = match unsafe { function(func) } {
        Ok(function) => function,
        Err(raised) => return minimal::status(Err(raised)),
    };
    if num_args < 0 {
        return fail(Refusal::Negative);
    }
    if result.is_null() || (args.is_null() && num_args != 0) {
        return fail(Refusal::Null);
    }
    // SAFETY: a function object has its cell, with a call in it, after the header (ABI). In tail position, so that this is a jump.
    unsafe {
        let cell = function.as_ptr().add(1).cast::<TVMFFIFunctionCell>();
        (*cell).safe_call.unwrap_unchecked()(func, args, num_args, result)
    }
}
