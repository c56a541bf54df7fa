//! Modules of the loaded `libtvm_ffi`, by its global functions.

#[path = "by_name.rs"]
mod by_name;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::value::convert::FromAny;
use ferrite_core::{Any, AnyView, Function, String, object_class, plain_error};

use crate::containers::Array;

pub use by_name::FileName;

/// Property flag: the module can be serialised by `save_to_bytes` and deserialised by
/// `ffi.Module.load_from_bytes.KIND`.
pub const BINARY_SERIALIZABLE: i32 = 0b001;
/// Property flag: the module has functions that can be called.
pub const RUNNABLE: i32 = 0b010;
/// Property flag: the module can be written as object code or source code, which is then compiled
/// and loaded as a library.
pub const COMPILATION_EXPORTABLE: i32 = 0b100;

object_class! {
    /// Reference to a module: a collection of named functions, with imports of other modules.
    ///
    /// # Threads
    /// Any thread may use a module. Imports may be added or removed during lookups.
    ///
    /// # Upstream
    /// `tvm::ffi::Module` in `extra/module.h`.
    pub struct Module, type_index::MODULE, "ffi.Module"
}

/// Calls a global function of the library.
///
/// # Errors
/// RuntimeError if the library lacks the function; errors of the function.
fn call(name: &str, args: &[AnyView<'_>]) -> Result<Any> {
    match Function::find_global(name)? {
        Some(function) => function.call_packed(args),
        None => Err(plain_error!(RUNTIME_ERROR, "libtvm_ffi has no function {}", name.as_bytes())),
    }
}

impl Module {
    /// Calls a global function with this module as the first argument.
    fn ask<T: FromAny>(&self, name: &str, args: &[AnyView<'_>]) -> Result<T> {
        let mut all = [AnyView::NONE; 3];
        all[0] = AnyView::from(self);
        for (to, from) in all[1..].iter_mut().zip(args) {
            *to = *from;
        }
        call(name, &all[..1 + args.len()])?.get()
    }

    /// Returns the kind, such as `library`.
    ///
    /// # Errors
    /// Errors of the module, here and in the other methods.
    pub fn kind(&self) -> Result<String> {
        self.ask("ffi.ModuleGetKind", &[])
    }

    /// Returns a mask of [`BINARY_SERIALIZABLE`], [`RUNNABLE`] and [`COMPILATION_EXPORTABLE`].
    ///
    /// # Errors
    /// Errors of the module.
    pub fn property_mask(&self) -> Result<i32> {
        self.ask("ffi.ModuleGetPropertyMask", &[])
    }

    /// Looks up a function in this module and, if `query_imports` is set, in its imports
    /// depth-first; `None` if there is none.
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn get_function(&self, name: &String, query_imports: bool) -> Result<Option<Function>> {
        self.ask("ffi.ModuleGetFunction", &[name.into(), query_imports.into()])
    }

    /// Returns `true` if there is a function with this name, with the search order of
    /// [`get_function`](Module::get_function).
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn implements_function(&self, name: &String, query_imports: bool) -> Result<bool> {
        self.ask("ffi.ModuleImplementsFunction", &[name.into(), query_imports.into()])
    }

    /// Returns the documentation of a function, with the search order of
    /// [`get_function`](Module::get_function); `None` if there is none.
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn function_doc(&self, name: &String, query_imports: bool) -> Result<Option<String>> {
        self.ask("ffi.ModuleGetFunctionDoc", &[name.into(), query_imports.into()])
    }

    /// Returns the metadata of a function as JSON, with the search order of
    /// [`get_function`](Module::get_function); `None` if there is none.
    ///
    /// # Errors
    /// Errors of the searched modules; MemoryError.
    pub fn function_metadata(&self, name: &String, query_imports: bool) -> Result<Option<String>> {
        self.ask("ffi.ModuleGetFunctionMetadata", &[name.into(), query_imports.into()])
    }

    /// Writes the module to a file in one of the [`write_formats`](Module::write_formats).
    ///
    /// # Errors
    /// RuntimeError if the module does not support writing; errors of the module.
    pub fn write_to_file(&self, file: &String, format: &String) -> Result<()> {
        self.ask("ffi.ModuleWriteToFile", &[file.into(), format.into()])
    }

    /// Returns the formats that [`write_to_file`](Module::write_to_file) supports.
    ///
    /// # Errors
    /// MemoryError.
    pub fn write_formats(&self) -> Result<Array<String>> {
        self.ask("ffi.ModuleGetWriteFormats", &[])
    }

    /// Returns the source code of the module in a format; empty if there is none.
    ///
    /// # Errors
    /// Errors of the module; MemoryError.
    pub fn inspect_source(&self, format: &String) -> Result<String> {
        self.ask("ffi.ModuleInspectSource", &[format.into()])
    }

    /// Appends `other` to the imports.
    ///
    /// # Errors
    /// RuntimeError if `other` is this module or imports it, directly or indirectly; MemoryError.
    pub fn import_module(&self, other: &Module) -> Result<()> {
        self.ask("ffi.ModuleImportModule", &[other.into()])
    }

    /// Removes all imports.
    ///
    /// # Errors
    /// MemoryError.
    pub fn clear_imports(&self) -> Result<()> {
        self.ask("ffi.ModuleClearImports", &[])
    }

    /// Loads a module from a file as [`load`](Module::load) does, but closes a library with the
    /// last reference to the module.
    ///
    /// # Errors
    /// RuntimeError without a loader for the file name's extension; errors of the loader.
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

    /// Loads a module from a file. A library is closed with the last reference to the module.
    fn from_file(file: &String) -> Result<Module> {
        call("ffi.ModuleLoadFromFile", &[file.into()])?.get()
    }
}

/// Modules that stay loaded.
pub mod globals {
    use super::{Module, Result};

    /// Adds a module to the set of the modules that stay loaded. Adding it again has no effect.
    ///
    /// # Errors
    /// MemoryError.
    pub fn add(module: &Module) -> Result<()> {
        module.ask("ffi.ModuleGlobalsAdd", &[])
    }

    /// Keeps a module until the process ends.
    ///
    /// # Errors
    /// MemoryError.
    pub(in super::super) fn keep(module: &Module) -> Result<()> {
        add(module)
    }

    /// Removes a module from the set. Has no effect if it was not added.
    ///
    /// # Errors
    /// MemoryError.
    ///
    /// # Safety
    /// Nothing that the code of the module created may be used after its last reference is dropped,
    /// which this call may do: see [`Module::load_from_file`].
    pub unsafe fn remove(module: &Module) -> Result<()> {
        module.ask("ffi.ModuleGlobalsRemove", &[])
    }
}

/// Modules of symbols that are linked into the program.
pub mod system_lib {
    use super::{AnyView, Module, Result, String, call};

    /// Returns the system library module for a prefix, and creates it on the first call.
    ///
    /// # Errors
    /// MemoryError.
    pub fn module(prefix: &String) -> Result<Module> {
        call("ffi.SystemLib", &[AnyView::from(prefix)])?.get()
    }
}
