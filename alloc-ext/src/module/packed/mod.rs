//! Packed-function libraries: libraries that TVM compiled before tvm-ffi. Function symbols have no
//! prefix, and the functions take values and type codes in separate arrays.
//!
//! | symbol | content |
//! |---|---|
//! | `NAME` | a function |
//! | `__tvm_main__` | a C string: the name of the function for which `__tvm_main__` is an alias |
//! | `__tvm_module_ctx` | context slot for the library's module |
//! | `__tvm_dev_mblob` | embedded modules, see `blob.rs` |
//!
//! A library is recognised by a symbol that only the old code generator emitted, if it has none of
//! the current symbols. Without this check, any symbol of any library would be taken for a
//! function.
//!
//! # Upstream
//! `src/runtime/library_module.cc` of apache/tvm v0.5 to v0.20.

mod blob;
mod payload;

use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::error::Result;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::{Function, String};

use super::Module;
use super::library::{Library, LibraryRef};
use super::symbol_name::find_symbol;

/// Constructor of functions for symbols of packed-function libraries. The function owns a reference
/// to the module, which keeps the library loaded.
pub type MakeFunction = unsafe fn(symbol: NonNull<c_void>, module: &Module) -> Result<Function>;

/// Support for packed-function libraries, provided by the program.
pub struct Support {
    /// Constructor of function objects for symbols.
    pub make_function: MakeFunction,
}

static SUPPORT: AtomicPtr<Support> = AtomicPtr::new(ptr::null_mut());

/// Enables loading of packed-function libraries.
///
/// # Threads
/// Any thread; one atomic store.
///
/// # Safety
/// Functions that `make_function` returns must own a reference to the module.
pub unsafe fn install(support: &'static Support) {
    SUPPORT.store(ptr::from_ref(support).cast_mut(), Ordering::Release);
}

fn support() -> Option<&'static Support> {
    // SAFETY: only `install` stores here, and only static references.
    unsafe { SUPPORT.load(Ordering::Acquire).as_ref() }
}

/// Symbol of the context slot for the library's module.
const CONTEXT: &CStr = c"__tvm_module_ctx";
/// Symbol of the embedded modules.
const BLOB: &CStr = c"__tvm_dev_mblob";
/// Symbol that contains the name of the main function. Also the alias by which the main function is
/// looked up.
const MAIN: &CStr = c"__tvm_main__";
/// Symbols that only packed-function libraries have.
const MARKS: [&CStr; 5] = [CONTEXT, BLOB, MAIN, c"__TVMFuncCall", c"__TVMAPISetLastError"];
/// Symbols that only current libraries have.
const MARKS_OF_TODAY: [&CStr; 3] =
    [c"__tvm_ffi__library_ctx", c"__tvm_ffi__library_bin", c"__TVMFFIFunctionCall"];

/// Returns the first of [`MARKS`] in a packed-function library; `None` for other libraries.
///
/// # Errors
/// Errors of symbol lookup.
fn mark_of(library: &dyn Library) -> Result<Option<NonNull<c_void>>> {
    for mark in MARKS_OF_TODAY {
        if library.symbol(mark)?.is_some() {
            return Ok(None);
        }
    }
    for mark in MARKS {
        if let Some(found) = library.symbol(mark)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Looks up the symbol of a function; `None` if there is none, or the library is not a
/// packed-function library.
///
/// # Errors
/// Errors of symbol lookup.
pub(super) fn symbol_of(library: &dyn Library, name: &String) -> Result<Option<NonNull<c_void>>> {
    if support().is_none() {
        return Ok(None);
    }
    let Some(mark) = mark_of(library)? else { return Ok(None) };
    let symbol = if name.as_bytes() == MAIN.to_bytes() {
        let Some(text) = library.symbol(MAIN)? else { return Ok(None) };
        // SAFETY: in libraries of this form, this symbol is a C string.
        library.symbol(unsafe { CStr::from_ptr(text.as_ptr().cast()) })?
    } else if name.as_bytes().starts_with(b"__") {
        // Data of the code generator.
        None
    } else {
        find_symbol(&[name.as_bytes()], &|name| library.symbol(name))?
    };
    // Excludes symbols of libraries that this one depends on, such as `malloc`.
    Ok(symbol.filter(|symbol| library.has_both(mark, *symbol)))
}

/// Looks up a function by name; `None` if there is none, or the library is not a packed-function
/// library.
///
/// # Errors
/// Errors of symbol lookup; MemoryError.
pub(super) fn function(
    library: &dyn Library,
    module: &Module,
    name: &String,
) -> Result<Option<Function>> {
    match (symbol_of(library, name)?, support()) {
        (Some(symbol), Some(support)) => {
            // SAFETY: symbols of such a library are functions of this form, valid while the module
            // lives (contract of `Library`).
            unsafe { (support.make_function)(symbol, module) }.map(Some)
        }
        _ => Ok(None),
    }
}

/// Creates the embedded modules of a library. Returns the root and, if it is in the tree, the
/// library's own module; `None` if the library has no embedded modules.
///
/// # Errors
/// Errors of [`blob::load`].
pub(super) fn embedded(
    library: &LibraryRef,
    own: impl Fn() -> Result<Module>,
) -> Result<Option<(Module, Option<Module>)>> {
    match library.binary(BLOB)? {
        Some(stream) if support().is_some() => blob::load(stream, own).map(Some),
        _ => Ok(None),
    }
}

/// Returns the context slot of a packed-function library; `None` if it has none.
///
/// # Errors
/// Errors of symbol lookup.
pub(super) fn context(library: &dyn Library) -> Result<Option<NonNull<c_void>>> {
    if support().is_none() { Ok(None) } else { library.symbol(CONTEXT) }
}
