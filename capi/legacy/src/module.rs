//! Module functions of the legacy API: loading, function lookup and imports.

use core::ffi::{c_char, c_int};

use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{AnyView, String, plain_bail};

use super::registry;
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::{TVMFunctionHandle, TVMModuleHandle};

/// Name prefix of the global functions that load modules from files.
const LOADER: &[u8] = b"ffi.Module.load_from_file.";

/// Loads a module from a file. If `format` is empty, the file name's extension is the format.
/// `dll`, `dylib` and `dso` are aliases of `so`.
///
/// # Errors
/// InternalError if there is no format, or no loader for it; errors of the loader; MemoryError.
pub(super) fn load(file: &[u8], format: &[u8]) -> Result<Module> {
    let extension = file.iter().rposition(|byte| *byte == b'.').map(|dot| &file[dot + 1..]);
    let format = match (format, extension) {
        (b"", None) => plain_bail!(INTERNAL_ERROR, "Cannot deduce format of file {}", file),
        (b"", Some(extension)) => extension,
        (format, _) => format,
    };
    let format = if matches!(format, b"dll" | b"dylib" | b"dso") { b"so" } else { format };
    let mut name = Buffer::new();
    name.try_extend_from_slice(LOADER)?;
    name.try_extend_from_slice(format)?;
    boundary::ensure_installed();
    let Some(loader) = global_table::get(&name)? else {
        plain_bail!(INTERNAL_ERROR, "Loader for {} files is not enabled", format);
    };
    let (file, format) = (String::from_bytes(file)?, String::from_bytes(format)?);
    loader.call_packed(&[AnyView::from(&file), AnyView::from(&format)])?.get()
}

/// Loads a module from a file. A null or empty `format` selects the format by the file name's
/// extension.
///
/// Returns 0 and stores the module, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMModLoadFromFile(
    file_name: *const c_char,
    format: *const c_char,
    out: *mut TVMModuleHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (file, format, out) = unsafe {
            (
                boundary::c_str(file_name, arg(1, "file_name"))?,
                boundary::c_str_or_empty(format),
                boundary::out(out, arg(3, "out"))?,
            )
        };
        out.write_object(Some(load(file, format)?));
        Ok(())
    })
}

/// Adds `dep` to the imports of module `mod`, which retains it. Returns 0, or -1 with an error
/// raised; an import cycle is an error.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMModImport(mod_: TVMModuleHandle, dep: TVMModuleHandle) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (module, dependency) = unsafe {
            (
                boundary::object_of::<Module>(mod_, arg(1, "mod"))?,
                boundary::object_of::<Module>(dep, arg(2, "dep"))?,
            )
        };
        module.import_module(&dependency)
    })
}

/// Finds a function of a module. If `query_imports` is not 0, its imports are searched, too. The
/// function keeps the module alive.
///
/// Returns 0 and stores the function, owned by the caller, in `out`, or null if there is none. On
/// failure, returns -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMModGetFunction(
    mod_: TVMModuleHandle,
    func_name: *const c_char,
    query_imports: c_int,
    out: *mut TVMFunctionHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (module, name, out) = unsafe {
            (
                boundary::object_of::<Module>(mod_, arg(1, "mod"))?,
                boundary::c_str(func_name, arg(2, "func_name"))?,
                boundary::out(out, arg(4, "out"))?,
            )
        };
        out.write_object(module.get_function(&String::from_bytes(name)?, query_imports != 0)?);
        Ok(())
    })
}

/// Releases a reference to a module. Null is ignored. Returns 0.
///
/// # Safety
/// The caller transfers the reference.
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMModFree(mod_: TVMModuleHandle) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { registry::free(mod_) }
}
