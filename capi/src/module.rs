//! Symbols of the header section "Module symbols": functions of the library that generated code
//! calls.

use core::ffi::{c_char, c_int, c_void};

use ferrite_alloc_ext::module::{Module, context, system_lib};
use ferrite_core::abi::TVMFFIObjectHandle;
use ferrite_core::value::string::String;

use crate::boundary::{self, arg};
use crate::builtins;

/// Finds a function for code of a module: in the module's imports first, then among the global
/// functions.
///
/// `library_ctx` is the value that the loader stored in the library's `__tvm_ffi__library_ctx`: the
/// address of a module object's C++ part, eight bytes before its handle. The result is cached.
///
/// Returns 0 and stores the function, borrowed from the module, in `out`. Returns -1 with
/// RuntimeError raised if it does not exist.
///
/// # Safety
/// `library_ctx` must come from a loader, and its module must still be loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModLookupFromImports(
    library_ctx: TVMFFIObjectHandle,
    func_name: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        let address = boundary::non_null(library_ctx, arg(1, "library_ctx"))?;
        // SAFETY: contract of the crate.
        let (name, out) = unsafe {
            (boundary::c_str(func_name, arg(2, "func_name"))?, boundary::out(out, arg(3, "out"))?)
        };
        // SAFETY: contract of this function.
        let module = unsafe { Module::from_context_address(address)? };
        builtins::ensure_installed();
        let function = module.lookup_from_imports(&String::from_bytes(name)?)?;
        out.write(function.as_ptr().cast());
        Ok(())
    })
}

/// Registers a context symbol: an address that the loader stores in the variable of that name in
/// every library loaded from now on that defines the variable.
///
/// Registering a name again replaces the address. Returns 0, or -1 with ValueError or MemoryError
/// raised. The name is copied.
///
/// # Safety
/// `symbol` must have the type that libraries expect under that name, and must stay valid as long
/// as the process runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterContextSymbol(
    name: *const c_char,
    symbol: *mut c_void,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        let symbol = boundary::non_null(symbol, arg(2, "symbol"))?;
        // SAFETY: the caller's promise.
        unsafe { context::register(name, symbol.as_ptr()) }
    })
}

/// Adds a symbol to the system library, the module of compiled code that is linked into the
/// program.
///
/// Generated code calls this from static constructors, before `main`. Registering a name again with
/// a different address replaces the address and logs a warning. Returns 0, or -1 with ValueError or
/// MemoryError raised. The name is copied.
///
/// # Safety
/// `symbol` must have the type implied by its name, and must stay valid as long as the process
/// runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterSystemLibSymbol(
    name: *const c_char,
    symbol: *mut c_void,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        let symbol = boundary::non_null(symbol, arg(2, "symbol"))?;
        // SAFETY: the caller's promise.
        unsafe { system_lib::register(name, symbol.as_ptr()) }
    })
}
