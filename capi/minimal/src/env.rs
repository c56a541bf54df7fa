//! Symbols of the header section "Module symbols". The profile `minimal` has no modules: generated
//! code looks up global functions, and `library_ctx` is ignored.

use core::ffi::{c_char, c_int};
use core::mem::MaybeUninit;
use core::ptr;

use crate::engine::Refusal;
use crate::engine::text::c_str_len;
use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObjectHandle, TVMFFISafeCallType};

use super::boundary::fail;
use super::function::{TVMFFIFunctionCreate, TVMFFIFunctionGetGlobal, TVMFFIFunctionSetGlobal};
use super::object::TVMFFIObjectDecRef;

/// Finds a global function for compiled code, which caches the result. The result is borrowed. The
/// library keeps a reference to it forever, even if another function is registered under the name.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModLookupFromImports(
    library_ctx: TVMFFIObjectHandle,
    func_name: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    let _ = library_ctx;
    if out.is_null() {
        return fail(Refusal::ARGUMENT);
    }
    let (mut name, mut function) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: contract of the crate. The function is written if the status is 0.
    unsafe {
        let status = TVMFFIFunctionGetGlobal(name_of(func_name, &mut name), function.as_mut_ptr());
        if status != 0 {
            return status;
        }
        let function = function.assume_init();
        if function.is_null() {
            return fail(Refusal::UNKNOWN);
        }
        out.write(function);
    }
    0
}

/// Adds a compiled function to the system library.
///
/// The function becomes a global function under its symbol name: `TVMFFIFunctionGetGlobal` finds
/// `__tvm_ffi_add_one`. The name is not copied. A function of the same name is replaced without a
/// warning. Returns 0, or -1 with an error raised: MemoryError if the capacity for function objects
/// or names is exhausted, ValueError for a null pointer.
///
/// # Safety
/// `symbol` must be the function of that name as long as the program runs, and the name must stay
/// valid, as names in the read-only data of generated code do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterSystemLibSymbol(
    name: *const c_char,
    symbol: Option<TVMFFISafeCallType>,
) -> c_int {
    let (mut name_array, mut function) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: contract of this function. The table retains the function, which is written if the
    // status is 0.
    unsafe {
        let mut status = TVMFFIFunctionCreate(ptr::null_mut(), symbol, None, function.as_mut_ptr());
        if status == 0 {
            let name = name_of(name, &mut name_array);
            status = TVMFFIFunctionSetGlobal(name, function.assume_init(), 1);
            TVMFFIObjectDecRef(function.assume_init());
        }
        status
    }
}

/// Stores a byte array that refers to a C string in `array`, and returns its address. For a null
/// string, the byte array is invalid.
///
/// # Safety
/// `name` must be null or a C string.
#[inline(never)]
unsafe fn name_of(
    name: *const c_char,
    array: &mut MaybeUninit<TVMFFIByteArray>,
) -> *const TVMFFIByteArray {
    // SAFETY: the caller's promise.
    array.write(TVMFFIByteArray { data: name, size: unsafe { c_str_len(name) } })
}
