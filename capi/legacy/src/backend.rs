//! C functions called by code that TVM 0.5 to 0.20 compiled, in addition to those that current
//! compiled code calls.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::NonNull;

use ferrite_alloc_ext::env::context;
use ferrite_alloc_ext::module::{Module, system_lib};
use ferrite_core::abi::TVMFFIObject;
use ferrite_core::names::global_table;
use ferrite_core::{String, plain_bail};

use super::{python, result};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::TVMFunctionHandle;

/// Finds a function for compiled code: in the imports of its module first, then among the global
/// functions.
///
/// `mod_node` is the value that the loader stored in `__tvm_module_ctx`, or null for code without a
/// module. The result is borrowed. The module caches and owns it; without a module, the function is
/// never released.
///
/// Returns 0 and stores the function in `out`. On failure, returns -1 with an error raised:
/// RuntimeError if there is no such function.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendGetFuncFromEnv(
    mod_node: *mut c_void,
    func_name: *const c_char,
    out: *mut TVMFunctionHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (name, out) = unsafe {
            (boundary::c_str(func_name, arg(2, "func_name"))?, boundary::out(out, arg(3, "out"))?)
        };
        boundary::ensure_installed();
        let name = String::from_bytes(name)?;
        let found = match NonNull::new(mod_node) {
            Some(address) => {
                // SAFETY: contract of this function.
                unsafe { Module::from_context_address(address)? }.lookup_from_imports(&name)?
            }
            None => global(&name)?,
        };
        out.write(found.as_ptr().cast());
        Ok(())
    })
}

/// Finds a global function and retains it permanently.
///
/// # Errors
/// RuntimeError if there is no such function.
fn global(name: &String) -> ferrite_core::Result<NonNull<TVMFFIObject>> {
    use ferrite_core::object::ObjectClass;
    match global_table::get(name.as_bytes())? {
        // Callers do not release the function: this reference is never released.
        Some(function) => Ok(function.into_object().into_raw()),
        None => plain_bail!(
            RUNTIME_ERROR,
            "Cannot find function {} in the imported modules or global registry",
            name.as_bytes()
        ),
    }
}

/// Adds a symbol to the system library, the module of compiled code that is linked into the
/// program. Static constructors of that code call this before `main`. Returns 0, or -1 with an
/// error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendRegisterSystemLibSymbol(
    name: *const c_char,
    ptr: *mut c_void,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        let ptr = boundary::non_null(ptr, arg(2, "ptr"))?;
        // SAFETY: contract of the crate.
        unsafe { system_lib::register(name, ptr.as_ptr()) }
    })
}

/// Registers a function of the host language: `Py_IncRef`, `Py_DecRef`, `PyGILState_Ensure`,
/// `PyGILState_Release` or `PyErr_CheckSignals`.
///
/// Returns 0, or -1 with ValueError raised for an unknown name or a null pointer.
///
/// # Safety
/// `ptr` must be the function of that name as long as the process runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendRegisterEnvCAPI(name: *const c_char, ptr: *mut c_void) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        let ptr = boundary::non_null(ptr, arg(2, "ptr"))?;
        if name == b"PyGILState_Ensure" {
            // Front ends that register this function have a code for booleans.
            result::enable_bool_type_code();
        }
        // SAFETY: the caller's promise.
        unsafe {
            let is_known = python::register(name, ptr.as_ptr());
            if is_known && !name.starts_with(b"PyGIL") {
                return Ok(());
            }
            // Signal checks use it, too.
            context::register(name, ptr.as_ptr())
        }
    })
}
