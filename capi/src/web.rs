//! Symbols that TVM's JavaScript runtime calls in a WebAssembly module, beside those of the C ABI.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::TVMFFIObjectHandle;
use ferrite_web::{callback, last_error, memory};

use crate::boundary::{self, arg};
use crate::builtins;

/// Installs the library's functions and runs the module's constructors, which register system
/// libraries. Without a call of it, the first lookup of a function does so.
#[unsafe(no_mangle)]
pub extern "C" fn _initialize() {
    builtins::ensure_installed();
}

/// Allocates `size` bytes at a multiple of 8. Returns null when out of memory.
#[unsafe(no_mangle)]
pub extern "C" fn TVMWasmAllocSpace(size: usize) -> *mut c_void {
    memory::allocate(size)
}

/// Frees a block. Null is allowed.
///
/// # Safety
/// The block must come from [`TVMWasmAllocSpace`] and must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMWasmFreeSpace(block: *mut c_void) {
    // SAFETY: contract of this function.
    unsafe { memory::free(block) };
}

/// Creates a function object that calls a function of JavaScript.
///
/// `resource` is a number of JavaScript's function table, which the object owns. Returns 0 and
/// stores the object, owned by the caller, in `out`; on failure -1 with MemoryError or ValueError
/// raised.
///
/// # Safety
/// `resource` must be in the table until the object removes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIWasmFunctionCreate(
    resource: *mut c_void,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of this function and of the crate.
        let (out, function) =
            unsafe { (boundary::out(out, arg(2, "out"))?, callback::create(resource)?) };
        out.write_object(Some(function));
        Ok(())
    })
}

/// Takes the raised error. Returns it as a null-terminated string, `KIND: MESSAGE`, which is valid
/// until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIWasmGetLastError() -> *const c_char {
    last_error::take()
}
