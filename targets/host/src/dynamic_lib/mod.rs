//! Loading of shared objects as library modules: `ffi.Module.load_from_file.so`.

use core::ffi::{CStr, c_void};
use core::fmt::Display;
use core::ptr::NonNull;

use ferrite_alloc_ext::module::Module;
use ferrite_alloc_ext::module::library::Library;
use ferrite_alloc_ext::module::library_module::LoadedLibrary;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::text::Lossy;
use ferrite_core::{String, error, static_function};

mod contexts;
pub mod driver;
mod linker;
mod loading;
mod name_filter;
pub mod program_symbols;

use contexts::LoadId;
pub(crate) use contexts::STORED_CONTEXTS;
use linker::LoadError;
pub(crate) use loading::LOADING_AT_FORK;
use loading::apart_from_forks;
use name_filter::NameFilter;

/// The global function that this module registers.
///
/// # Upstream
/// `library_module_dynamic_lib.cc`.
pub static FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.Module.load_from_file.so", load_from_file)];

/// An open shared object, closed when it is dropped. `dlsym` formats an error message for every
/// missing symbol; the name filter avoids that cost.
struct DynamicLibrary {
    handle: NonNull<c_void>,
    filter: Option<NameFilter>,
    load: LoadId,
}

// SAFETY: a handle of the dynamic linker may be used from any thread, and the filter reads memory
// that is never written.
unsafe impl Send for DynamicLibrary {}
// SAFETY: as for Send; looking symbols up changes nothing.
unsafe impl Sync for DynamicLibrary {}

impl DynamicLibrary {
    /// Opens the file at `path`.
    ///
    /// # Safety
    /// Opening the file runs the object's initialisers, which must be sound to run.
    unsafe fn open(path: &CStr) -> core::result::Result<DynamicLibrary, LoadError> {
        program_symbols::show();
        // SAFETY: the caller guarantees the initialisers.
        let handle = apart_from_forks(|| unsafe { linker::open(path) })?;
        // SAFETY: the handle is open until the library with the filter is dropped.
        let filter = unsafe { NameFilter::of(handle) };
        Ok(DynamicLibrary { handle, filter, load: LoadId::new() })
    }
}

impl Drop for DynamicLibrary {
    fn drop(&mut self) {
        // SAFETY: the modules of this load are gone, and the object is open.
        unsafe { self.load.end() };
        // SAFETY: the handle is open, and is not used after this.
        apart_from_forks(|| unsafe { linker::close(self.handle) });
    }
}

// SAFETY: the caller of `open_library` guarantees the `__tvm_ffi_*` symbols; addresses stay valid
// until the object is closed.
unsafe impl Library for DynamicLibrary {
    fn symbol(&self, name: &CStr) -> Result<Option<NonNull<c_void>>> {
        if self.filter.as_ref().is_some_and(|filter| filter.lacks(name)) {
            return Ok(None);
        }
        // SAFETY: the handle is open.
        Ok(unsafe { linker::symbol(self.handle, name) })
    }

    /// Returns `true` if this object defines the symbol at `other`: the address lies in the same
    /// object as `known`, which this object defines. `dlsym` alone also finds symbols of an
    /// object's dependencies.
    #[cfg(feature = "packed")]
    fn has_both(&self, known: NonNull<c_void>, other: NonNull<c_void>) -> bool {
        driver::same_object(known.as_ptr(), other.as_ptr())
    }
}

/// Opens a shared object with lazy binding and local symbols, and creates a module for it.
///
/// The object is closed when the last module and the last function from it are released. After
/// that, code that is still referenced elsewhere, such as deleters of its objects, must not run.
/// `ffi.ModuleGlobalsAdd` keeps the object open permanently.
///
/// # Errors
/// `InternalError` with the system's message if the file cannot be opened, or if the path contains
/// a NUL byte; the errors of [`LoadedLibrary::load`].
///
/// # Safety
/// Loading runs the object's initialisers, which must be sound to run. Its `__tvm_ffi_*` symbols
/// must have the types that the ABI fixes for their names.
///
/// # Upstream
/// `ffi.Module.load_from_file.so`.
pub unsafe fn open_library(path: &[u8]) -> Result<Module> {
    let mut name = Buffer::try_with_capacity(path.len().saturating_add(1))?;
    name.try_extend_from_slice(path)?;
    name.try_push(0)?;
    let name =
        CStr::from_bytes_with_nul(&name).map_err(|_| failure(path, "the path has a NUL byte"))?;
    // SAFETY: the caller guarantees the object.
    let library = unsafe { DynamicLibrary::open(name) };
    let library =
        library.map_err(|error| error.with_text(|reason| failure(path, Lossy(reason))))?;
    let load = library.load;
    load.publish(&LoadedLibrary::load(library)?)
}

/// Creates the InternalError for a file that cannot be opened, with upstream's message.
fn failure(path: &[u8], reason: impl Display) -> Error {
    error!(
        InternalError,
        "Check failed: (lib_handle_ != nullptr) is false: Failed to load dynamic shared library {} {}",
        Lossy(path),
        reason
    )
}

/// Implements `ffi.Module.load_from_file.so`. The second argument, the format, is ignored.
fn load_from_file(path: String, _format: String) -> Result<Module> {
    // SAFETY: as in upstream, the caller who loads a file through the ABI guarantees its content.
    unsafe { open_library(path.as_bytes()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_alloc_ext::module::library_module::create_library_module;
    use ferrite_core::AnyView;

    fn message(path: &str) -> std::string::String {
        let loader = FUNCTIONS[0].to_function().unwrap();
        let (path, format) = (String::new(path).unwrap(), String::new("so").unwrap());
        let error = loader
            .call_packed(&[AnyView::from(&path), AnyView::from(&format)])
            .map(drop)
            .unwrap_err();
        assert_eq!(error.kind_bytes(), b"InternalError");
        let text = std::string::String::from_utf8_lossy(error.message_bytes()).into_owned();
        text.strip_prefix("Check failed: (lib_handle_ != nullptr) is false: ")
            .unwrap_or(&text)
            .into()
    }

    #[cfg(not(miri))]
    #[test]
    fn what_cannot_be_opened_is_named() {
        let text = message("./no/such/library.so");
        assert!(
            text.starts_with("Failed to load dynamic shared library ./no/such/library.so "),
            "{text}"
        );
        assert!(text.contains("No such file") || text.contains("cannot open"), "{text}");
        let this_file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/dynamic_lib/mod.rs");
        let text = message(this_file);
        assert!(
            text.len() > "Failed to load dynamic shared library ".len() + this_file.len() + 1,
            "{text}"
        );
    }

    #[test]
    fn a_path_with_a_nul_byte_is_refused() {
        assert_eq!(
            message("a\0b.so"),
            "Failed to load dynamic shared library a\0b.so the path has a NUL byte"
        );
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn symbols_of_an_open_object_are_found() -> Result<()> {
        // SAFETY: the C library has no `__tvm_ffi_*` symbols, and is already loaded.
        let library = unsafe { DynamicLibrary::open(c"libc.so.6") };
        let library =
            library.map_err(|error| error.with_text(|reason| failure(b"", Lossy(reason))))?;
        assert!(library.symbol(c"malloc")?.is_some());
        assert!(library.symbol(c"no_such_symbol_anywhere")?.is_none());
        let module = create_library_module(library)?;
        assert_eq!(module.kind()?, c"library");
        assert!(module.get_function(&String::new("malloc")?, true)?.is_none());
        Ok(())
    }
}
