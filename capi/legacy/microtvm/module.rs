//! Modules of generated code, each a table of functions. The handle of a module is its address.

use core::ffi::{c_char, c_int};

use super::abi::{TVMFunctionHandle, TVMModuleHandle};
use super::error::bad_argument;
use super::function::{handle_of, not_found};
use super::registry::TVMFuncRegistry;

/// A module, as returned by `TVMSystemLibEntryPoint` of generated code.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TVMModule {
    /// Its functions.
    pub registry: *const TVMFuncRegistry,
}

/// Creates the handle of a module in generated code. It need not be freed.
///
/// # Safety
/// The module stays valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMModCreateFromCModule(
    mod_: *const TVMModule,
    out_handle: *mut TVMModuleHandle,
) -> c_int {
    if mod_.is_null() || out_handle.is_null() {
        return bad_argument();
    }
    // SAFETY: contract of the crate.
    unsafe { out_handle.write(mod_.cast_mut().cast()) };
    0
}

/// Finds a function of a module, which has no imports.
///
/// Returns 0 and the function, which need not be freed, in `out`; or -1, also if it does not exist.
///
/// # Safety
/// `mod_` is null or a handle from `TVMModCreateFromCModule`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMModGetFunction(
    mod_: TVMModuleHandle,
    func_name: *const c_char,
    query_imports: c_int,
    out: *mut TVMFunctionHandle,
) -> c_int {
    let _ = query_imports;
    // SAFETY: contract of this function.
    unsafe {
        let Some(module) = mod_.cast::<TVMModule>().as_ref() else { return bad_argument() };
        let Some(registry) = module.registry.as_ref() else { return bad_argument() };
        if func_name.is_null() || out.is_null() {
            return bad_argument();
        }
        match registry.entry(func_name) {
            Some(entry) => out.write(handle_of(entry)),
            None => return not_found(func_name),
        }
    }
    0
}

/// Does nothing: modules are constants of the program.
#[unsafe(no_mangle)]
pub extern "C" fn TVMModFree(mod_: TVMModuleHandle) -> c_int {
    let _ = mod_;
    0
}
