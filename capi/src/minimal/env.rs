//! Section "Module symbols". There are no modules: generated code finds global functions, and `library_ctx` is ignored.

use core::ffi::{c_char, c_int};

use ferrite_core::abi::{TVMFFIObjectHandle, TVMFFISafeCallType};
use ferrite_core::minimal::{self, Refusal, c_str, names, refuse};

use super::boundary::{callback, non_null, status};

/// Finds a global function that compiled code calls; it is borrowed from the table.
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
    status(|| {
        let (name, out) = (non_null(func_name)?, non_null(out)?);
        // SAFETY: contract of the crate.
        let function = unsafe { names::get(c_str(name.as_ptr()), false) };
        if function.is_null() {
            return Err(refuse(Refusal::Unknown));
        }
        // SAFETY: contract of the crate.
        unsafe { out.write(function.cast()) };
        Ok(())
    })
}

/// Adds a compiled function to the system library.
///
/// It is a global function of the name of its symbol from then on: `TVMFFIFunctionGetGlobal` finds `__tvm_ffi_add_one`. The name is
/// not copied, and nothing is said when a name gets another function. MemoryError as for `TVMFFIFunctionCreate` and
/// `TVMFFIFunctionSetGlobal`.
///
/// # Safety
/// `symbol` is what its name says as long as the program runs, and the name stays where it is: generated code has it in
/// read-only data.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterSystemLibSymbol(
    name: *const c_char,
    symbol: Option<TVMFFISafeCallType>,
) -> c_int {
    // SAFETY: contract of this function.
    status(|| unsafe { minimal::register_symbol(c_str(non_null(name)?.as_ptr()), callback(symbol)?) })
}
