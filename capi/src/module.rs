//! Section "Module symbols": what generated code needs from the library that it is loaded beside.

use core::ffi::{c_char, c_int, c_void};

use ferrite_alloc_ext::module::{Module, context, system_lib};
use ferrite_core::abi::TVMFFIObjectHandle;
use ferrite_core::string::String;

use crate::boundary::{self, arg};
use crate::builtins;

/// Finds a function that a module's code calls: in the module's imports, then among the global functions.
///
/// `library_ctx` is what the loader stored in the library's `__tvm_ffi__library_ctx`: the address of a module object's C++
/// part, eight bytes before its handle. The result is remembered.
///
/// Returns 0 and the function in `out`, borrowed from the module; or -1 with RuntimeError raised when there is none.
///
/// # Safety
/// `library_ctx` comes from a loader, and its module is still loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModLookupFromImports(
    library_ctx: TVMFFIObjectHandle,
    func_name: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        let address = boundary::non_null(library_ctx, arg(1, "library_ctx"))?;
        // SAFETY: contract of the crate.
        let (name, out) =
            unsafe { (boundary::c_str(func_name, arg(2, "func_name"))?, boundary::out(out, arg(3, "out"))?) };
        // SAFETY: contract of this function.
        let module = unsafe { Module::from_context_address(address)? };
        builtins::ensure_installed();
        let function = module.lookup_from_imports(&String::from_bytes(name)?)?;
        out.write(function.as_ptr().cast());
        Ok(())
    })
}

/// Registers an address for libraries loaded from now on: it is stored in the variable of this name of each library
/// that has one.
///
/// Registering a name again replaces its address. Returns 0; or -1 with ValueError or MemoryError raised. The name is copied.
///
/// # Safety
/// `symbol` is what libraries expect under that name, as long as the process runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterContextSymbol(
    name: *const c_char,
    symbol: *mut c_void,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        let symbol = boundary::non_null(symbol, arg(2, "symbol"))?;
        context::register(name, symbol.as_ptr())
    })
}

/// Adds a symbol to the system library: code that is linked into the program instead of loaded.
///
/// Generated code calls this from static constructors, before `main`. A name that gets another address is replaced, with a
/// line in the log. Returns 0; or -1 with ValueError or MemoryError raised. The name is copied.
///
/// # Safety
/// `symbol` is what its name says, as long as the process runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvModRegisterSystemLibSymbol(
    name: *const c_char,
    symbol: *mut c_void,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        let symbol = boundary::non_null(symbol, arg(2, "symbol"))?;
        system_lib::register(name, symbol.as_ptr())
    })
}
