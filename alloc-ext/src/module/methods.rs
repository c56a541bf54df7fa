//! Methods of modules.

use core::ffi::{CStr, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::{global_table, type_table};
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::stack;
use ferrite_core::{Any, AnyView, Bytes, Function, String, plain_bail, plain_ensure, plain_error};

use super::imports::{self, SearchTarget};
use super::interface::{Module, ModuleImpl, Query};
use super::symbol_name::SymbolName;
use super::{record, rust_ops};
use crate::containers::{Array, ArrayObject};

impl Module {
    /// Creates a module that C, C++ and Rust can use.
    ///
    /// # Errors
    /// MemoryError; `implementation` is then dropped.
    pub fn from_impl<T: ModuleImpl>(implementation: T) -> Result<Module> {
        rust_ops::allocate(implementation)
    }

    /// Returns the implementation if its type is `T`; `None` otherwise. Builds without the feature
    /// `module-types`, which `std` enables, do not record the type.
    #[cfg(feature = "module-types")]
    pub fn implementation<T: ModuleImpl>(&self) -> Option<&T> {
        record::try_implementation(self)
    }

    /// Returns the address of the C++ object, which context slots contain: eight bytes before the
    /// handle. It does not own a reference.
    pub fn context_address(&self) -> *mut c_void {
        record::cxx_object(self)
    }

    /// Borrows the module with this [`context_address`](Module::context_address).
    ///
    /// # Errors
    /// TypeError if the object at the address is not a module.
    ///
    /// # Safety
    /// There must be an object header eight bytes after the address, of an object that stays alive
    /// while the result is used.
    pub unsafe fn from_context_address(address: NonNull<c_void>) -> Result<ManuallyDrop<Module>> {
        // SAFETY: the caller guarantees the object; only its header is read before its type is
        // known.
        let module = unsafe { record::borrow_this(address.as_ptr()) };
        let found = module.as_object().type_index();
        plain_ensure!(
            module.as_object().is_instance::<Module>(),
            TYPE_ERROR,
            "The library context is not a module: `{}`",
            type_table::type_key_of(found)
        );
        Ok(module)
    }

    /// Returns the kind, such as `library`.
    ///
    /// # Errors
    /// Errors of the module, here and in the other methods, since any virtual function of a C++
    /// module may throw; InternalError for a C++ module in a build without C++.
    pub fn kind(&self) -> Result<&CStr> {
        (record::ops(self)?.kind)(self)
    }

    /// Returns a mask of [`BINARY_SERIALIZABLE`](super::BINARY_SERIALIZABLE),
    /// [`RUNNABLE`](super::RUNNABLE) and
    /// [`COMPILATION_EXPORTABLE`](super::COMPILATION_EXPORTABLE).
    ///
    /// # Errors
    /// Errors of the module.
    pub fn property_mask(&self) -> Result<i32> {
        (record::ops(self)?.property_mask)(self)
    }

    /// Looks up a function in this module and, if `query_imports` is set, in its imports
    /// depth-first; `None` if there is none.
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn get_function(&self, name: &String, query_imports: bool) -> Result<Option<Function>> {
        let found = self.search(Query::Function, name, query_imports)?;
        Ok(found.into_object().ok().and_then(|function| function.downcast().ok()))
    }

    /// Returns `true` if there is a function with this name, with the search order of
    /// [`get_function`](Module::get_function).
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn implements_function(&self, name: &String, query_imports: bool) -> Result<bool> {
        Ok(!self.search(Query::Implementation, name, query_imports)?.is_none())
    }

    /// Returns the documentation of a function, with the search order of
    /// [`get_function`](Module::get_function); `None` if there is none.
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn function_doc(&self, name: &String, query_imports: bool) -> Result<Option<String>> {
        self.search(Query::Doc, name, query_imports)?.get()
    }

    /// Returns the metadata of a function as JSON, with the search order of
    /// [`get_function`](Module::get_function); `None` if there is none.
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn function_metadata(&self, name: &String, query_imports: bool) -> Result<Option<String>> {
        self.search(Query::Metadata, name, query_imports)?.get()
    }

    /// Returns this module's answer to a query about a function. If that is None and
    /// `query_imports` is set, returns the first answer of an import that is not None.
    pub(super) fn search(&self, query: Query, name: &String, query_imports: bool) -> Result<Any> {
        let target = SearchTarget::Answer(query, name);
        if query_imports { target.of_tree(self) } else { target.of(self) }
    }

    /// Writes the module to a file in one of the [`write_formats`](Module::write_formats).
    ///
    /// # Errors
    /// RuntimeError if the module does not support writing; errors of the module.
    pub fn write_to_file(&self, file: &String, format: &String) -> Result<()> {
        (record::ops(self)?.write_to_file)(self, file, format)
    }

    /// Returns the formats that [`write_to_file`](Module::write_to_file) supports.
    ///
    /// # Errors
    /// MemoryError.
    pub fn write_formats(&self) -> Result<Array<String>> {
        (record::ops(self)?.write_formats)(self)
    }

    /// Serialises the module.
    ///
    /// # Errors
    /// RuntimeError if the module does not support serialisation; errors of the module.
    pub fn save_to_bytes(&self) -> Result<Bytes> {
        (record::ops(self)?.save_to_bytes)(self)
    }

    /// Returns the source code of the module in a format; empty if there is none.
    ///
    /// # Errors
    /// Errors of the module; MemoryError.
    pub fn inspect_source(&self, format: &String) -> Result<String> {
        (record::ops(self)?.inspect_source)(self, format)
    }

    /// Appends `other` to the imports.
    ///
    /// # Errors
    /// RuntimeError if `other` is this module or imports it, directly or indirectly; MemoryError.
    pub fn import_module(&self, other: &Module) -> Result<()> {
        (record::ops(self)?.import_module)(self, other)
    }

    /// Removes all imports.
    ///
    /// # Errors
    /// MemoryError.
    pub fn clear_imports(&self) -> Result<()> {
        (record::ops(self)?.clear_imports)(self)
    }

    /// Returns the current imports, an Array of Module. Later changes do not affect it.
    ///
    /// # Errors
    /// InternalError for a module without an Array of imports, which breaks the contract of
    /// modules.
    pub fn imports(&self) -> Result<ArrayObject> {
        imports::snapshot(self)
    }

    /// Looks up a function for the host code of this module: in the imports depth-first, then in
    /// the global function table.
    ///
    /// The result is cached in the module, borrowed from it, and valid as long as the module.
    ///
    /// # Errors
    /// RuntimeError if there is no such function; errors of the searched modules; MemoryError.
    ///
    /// # Upstream
    /// `TVMFFIEnvModLookupFromImports`.
    pub fn lookup_from_imports(&self, name: &String) -> Result<NonNull<TVMFFIObject>> {
        imports::lookup(self, name)
    }

    /// Loads a module from a file as [`load`](Module::load) does, but closes a library with the
    /// last reference to the module.
    ///
    /// # Errors
    /// RuntimeError if the file name has no extension, or there is no loader for the extension;
    /// errors of the loader; TypeError if the loader does not return a module.
    ///
    /// # Safety
    /// When the last reference to the module and to its functions is dropped, the code of a library
    /// is unmapped. Before that, everything that the library created must be released: objects,
    /// errors and functions whose deleters or bodies are in its code, and tensors over its memory.
    /// Global functions, types, fields and hooks that it registered must no longer be used.
    /// [`load`](Module::load) keeps the code.
    ///
    /// # Upstream
    /// `Module::LoadFromFile` in `module.cc`.
    pub unsafe fn load_from_file(file: &String) -> Result<Module> {
        Module::from_file(file)
    }

    /// Loads a module from a file by the global function `ffi.Module.load_from_file.EXT`, where EXT
    /// is the file name's extension (`so` for all shared libraries). A library is closed with the
    /// last reference to the module.
    pub(crate) fn from_file(file: &String) -> Result<Module> {
        let bytes = file.as_bytes();
        let Some(dot) = bytes.iter().rposition(|byte| *byte == b'.') else {
            plain_bail!(RUNTIME_ERROR, "Failed to get file format from {}", bytes);
        };
        let mut format = bytes.get(dot + 1..).unwrap_or_default();
        if [&b"dll"[..], b"dylib", b"dso"].contains(&format) {
            format = b"so";
        }
        let format = String::from_bytes(format)?;
        let args = [AnyView::from(file), AnyView::from(&format)];
        load(b"ffi.Module.load_from_file.", format.as_bytes(), &args, |format| {
            plain_error!(
                RUNTIME_ERROR,
                "Loader for `.{}` files is not registered, resolved to (ffi.Module.load_from_file.{}) in the global \
                 registry.Ensure that you have loaded the correct runtime code, andthat you are on the correct hardware \
                 architecture.",
                format,
                format;
                "There is no ffi.Module.load_from_file.{}",
                format
            )
        })
    }
}

/// Loads a module by calling the global function `prefix` + `kind`.
///
/// # Errors
/// The error that `missing` creates, if there is no such loader; errors of the loader; TypeError if
/// its result is not a module; ValueError if loaders are nested too deeply.
pub(super) fn load(
    prefix: &[u8],
    kind: &[u8],
    args: &[AnyView<'_>],
    missing: fn(&[u8]) -> Error,
) -> Result<Module> {
    match global_table::get(SymbolName::new().join(&[prefix, kind])?.as_bytes())? {
        // Nested, since the loader may load the same file again.
        Some(loader) => stack::nest(|| loader.call_packed(args))?.get(),
        None => Err(missing(kind)),
    }
}
