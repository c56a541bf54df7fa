//! Kernels that are linked into the program.

use core::ffi::{CStr, c_char};

use ferrite_core::Function;
use ferrite_core::abi::TVMFFISafeCallType;
use ferrite_core::error::Result;

/// A kernel of a model: its name in the executable, and its code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Kernel {
    /// The name, which ends with a zero.
    pub name: *const c_char,
    /// The function that TVM generated, `__tvm_ffi_NAME`.
    pub call: Option<TVMFFISafeCallType>,
}

/// The function of the kernel of that name.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// The kernels are functions that TVM generated; each name is null or a text that ends with a zero.
pub unsafe fn find(kernels: &[Kernel], name: &[u8]) -> Result<Option<Function>> {
    for kernel in kernels {
        // SAFETY: as the caller vouches.
        let is_named = !kernel.name.is_null() && unsafe { CStr::from_ptr(kernel.name) }.to_bytes() == name;
        if let (true, Some(call)) = (is_named, kernel.call) {
            // SAFETY: generated code needs no context, and lives as long as the program.
            return unsafe { Function::from_extern_c(core::ptr::null_mut(), call, None) }.map(Some);
        }
    }
    Ok(None)
}
