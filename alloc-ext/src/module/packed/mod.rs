//! Libraries that TVM compiled before tvm-ffi. Symbols have the names of their functions, which take values and type codes apart.
//!
//! | symbol | holds |
//! |---|---|
//! | `NAME` | a function |
//! | `__tvm_main__` | the name of the function that `__tvm_main__` stands for, a C string |
//! | `__tvm_module_ctx` | the module, for the library's code |
//! | `__tvm_dev_mblob` | embedded modules, see [`blob`] |
//!
//! A library is one of these if it has one of the marks that the code generator of that time left, and none of today's: any symbol
//! of other libraries would pass for a function.
//!
//! # Upstream
//! `src/runtime/library_module.cc` of apache/tvm v0.5 to v0.20.

mod blob;

use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::error::Result;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::{Function, String};

use super::Module;
use super::library::{Library, LibraryRef};
use super::symbol_name::find_symbol;

/// Makes a function of a symbol of this form. It holds the module, whose library the symbol is in.
pub type MakeFunction = unsafe fn(symbol: NonNull<c_void>, module: &Module) -> Result<Function>;

/// What the program has for libraries of this form.
pub struct Support {
    /// Makes functions.
    pub make_function: MakeFunction,
}

static SUPPORT: AtomicPtr<Support> = AtomicPtr::new(ptr::null_mut());

/// Makes the program load libraries of this form.
///
/// # Threads
/// Any; one atomic store.
pub fn install(support: &'static Support) {
    SUPPORT.store(ptr::from_ref(support).cast_mut(), Ordering::Release);
}

fn support() -> Option<&'static Support> {
    // SAFETY: only `install` stores here, and what it stores is static.
    unsafe { SUPPORT.load(Ordering::Acquire).as_ref() }
}

/// The pointer in which a library's code finds its module.
const CONTEXT: &CStr = c"__tvm_module_ctx";
/// The embedded modules.
const BLOB: &CStr = c"__tvm_dev_mblob";
/// The name of the main function.
const MAIN: &CStr = c"__tvm_main__";
/// What no other library has.
const MARKS: [&CStr; 5] = [CONTEXT, BLOB, MAIN, c"__TVMFuncCall", c"__TVMAPISetLastError"];
/// What libraries of today have.
const MARKS_OF_TODAY: [&CStr; 3] =
    [c"__tvm_ffi__library_ctx", c"__tvm_ffi__library_bin", c"__TVMFFIFunctionCall"];

/// The first mark of a library of this form; none for other libraries.
///
/// # Errors
/// Those of looking symbols up.
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

/// The symbol of a function of a library of this form; none for other libraries.
///
/// # Errors
/// Those of looking symbols up.
pub(super) fn symbol_of(library: &dyn Library, name: &String) -> Result<Option<NonNull<c_void>>> {
    if support().is_none() {
        return Ok(None);
    }
    let Some(mark) = mark_of(library)? else { return Ok(None) };
    let symbol = if name.as_bytes() == MAIN.to_bytes() {
        let Some(text) = library.symbol(MAIN)? else { return Ok(None) };
        // SAFETY: the symbol of that name is a C string in libraries with the mark.
        library.symbol(unsafe { CStr::from_ptr(text.as_ptr().cast()) })?
    } else if name.as_bytes().starts_with(b"__") {
        // Data of the generator.
        None
    } else {
        find_symbol(&[name.as_bytes()], &|name| library.symbol(name))?
    };
    // A library that this one depends on may have the name, such as `malloc`.
    Ok(symbol.filter(|symbol| library.has_both(mark, *symbol)))
}

/// The function of a library of this form; none for other libraries, and for other names.
///
/// # Errors
/// Those of looking symbols up; MemoryError.
pub(super) fn function(library: &dyn Library, module: &Module, name: &String) -> Result<Option<Function>> {
    match (symbol_of(library, name)?, support()) {
        // SAFETY: symbols of such a library are functions of this form, valid while the module lives (contract of `Library`).
        (Some(symbol), Some(support)) => unsafe { (support.make_function)(symbol, module) }.map(Some),
        _ => Ok(None),
    }
}

/// The modules that a library of this form carries, the root and the library's own; none without the symbol.
///
/// # Errors
/// Those of [`blob::load`].
pub(super) fn embedded(
    library: &LibraryRef,
    own: impl Fn() -> Result<Module>,
) -> Result<Option<(Module, Option<Module>)>> {
    match library.binary(BLOB)? {
        Some(stream) if support().is_some() => blob::load(stream, own).map(Some),
        _ => Ok(None),
    }
}

/// The pointer in which the code of a library of this form finds its module.
///
/// # Errors
/// Those of looking symbols up.
pub(super) fn context(library: &dyn Library) -> Result<Option<NonNull<c_void>>> {
    if support().is_none() { Ok(None) } else { library.symbol(CONTEXT) }
}
