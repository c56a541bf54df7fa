//! Modules: named functions from a library, from Rust or from C++, and the modules that they import.
//!
//! | file | holds |
//! |---|---|
//! | `record`, `class`, `ops` | the object that C++ sees, its implementation's class, and the functions by which it is used |
//! | `cxx_class` | modules as C++ classes, with the feature `cxx` |
//! | `imports`, `visited`, `lookup_cache` | the import tree, and what was found in it |
//! | [`library`], `library_function`, `library_bin`, `bin_reader`, `symbol_name` | modules over a library of symbols |
//! | `packed` | libraries of TVM before tvm-ffi, a feature |
//! | [`context`], [`backend_slots`] | addresses that a library finds in its pointer slots |
//! | [`system_lib`], `symbol_table`, [`globals`] | symbols linked into the program, and modules kept alive |
//! | [`functions`], `calls` | the `ffi.Module*` global functions |

pub mod backend_slots;
mod bin_reader;
mod calls;
#[cfg_attr(not(feature = "std"), path = "class_untyped.rs")]
mod class;
pub mod context;
pub mod cxx_class;
pub mod functions;
pub mod globals;
pub mod imports;
pub mod library;
mod library_bin;
mod library_function;
#[cfg_attr(not(feature = "speed"), path = "lookup_cache_in_turns.rs")]
mod lookup_cache;
mod ops;
#[cfg(feature = "packed")]
pub mod packed;
#[cfg(not(feature = "packed"))]
#[path = "no_packed.rs"]
mod packed;
mod record;
mod symbol_name;
pub(crate) mod symbol_table;
pub mod system_lib;
#[cfg(test)]
mod testing;
#[cfg_attr(not(feature = "speed"), path = "visited_in_turns.rs")]
mod visited;

use core::ffi::{CStr, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
use ferrite_core::{
    Any, AnyView, Bytes, Function, String, global_table, object_class, plain_bail, plain_ensure, plain_error,
    stack, type_index, type_table,
};

pub use ops::{ModuleOps, Query};
use symbol_name::SymbolName;

use crate::containers::{Array, ArrayObject};

/// The module can be serialized: `save_to_bytes` works, and `ffi.Module.load_from_bytes.KIND` reads the
/// result.
pub const BINARY_SERIALIZABLE: i32 = 0b001;
/// The module has functions that can be called.
pub const RUNNABLE: i32 = 0b010;
/// The module can be written as object code or source, to be compiled and loaded as a library.
pub const COMPILATION_EXPORTABLE: i32 = 0b100;

object_class! {
    /// A reference to a module, made here or by C++.
    ///
    /// # Threads
    /// Any thread may use a module; imports may change while others look functions up.
    ///
    /// # Upstream
    /// `tvm::ffi::Module` in `extra/module.h`.
    pub struct Module, type_index::MODULE, "ffi.Module"
}

/// The operations of a kind of module. Implement it for the module of a device, and pass it to [`Module::from_impl`].
///
/// # Upstream
/// The virtual functions of `tvm::ffi::ModuleObj`.
pub trait ModuleImpl: Send + Sync + 'static {
    /// The kind, as in `ffi.Module.load_from_bytes.KIND`.
    fn kind(&self) -> &CStr;

    /// Which of [`BINARY_SERIALIZABLE`], [`RUNNABLE`] and [`COMPILATION_EXPORTABLE`] hold.
    fn property_mask(&self) -> i32 {
        0
    }

    /// The function of that name. What the function needs of `module` it must hold: the caller may drop the
    /// module.
    ///
    /// # Errors
    /// Any; a name that is not there is none, not an error.
    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>>;

    /// Whether the module has a function of that name, perhaps one that cannot run before further
    /// compilation.
    ///
    /// # Errors
    /// As [`get_function`](ModuleImpl::get_function).
    fn implements_function(&self, module: &Module, name: &String) -> Result<bool> {
        Ok(self.get_function(module, name)?.is_some())
    }

    /// The documentation of a function.
    ///
    /// # Errors
    /// Any.
    fn function_doc(&self, _name: &String) -> Result<Option<String>> {
        Ok(None)
    }

    /// The metadata of a function, in JSON.
    ///
    /// # Errors
    /// Any.
    fn function_metadata(&self, _name: &String) -> Result<Option<String>> {
        Ok(None)
    }

    /// Writes the module to a file, for further compilation.
    ///
    /// # Errors
    /// `RuntimeError` unless overridden.
    fn write_to_file(&self, _file: &String, _format: &String) -> Result<()> {
        plain_bail!(RUNTIME_ERROR, "Module[{}] does not support WriteToFile", self.kind().to_bytes())
    }

    /// The formats that [`write_to_file`](ModuleImpl::write_to_file) takes, an Array of String.
    ///
    /// # Errors
    /// `MemoryError`.
    fn write_formats(&self) -> Result<Array<String>> {
        Array::new()
    }

    /// Serializes the module.
    ///
    /// # Errors
    /// `RuntimeError` unless overridden.
    fn save_to_bytes(&self) -> Result<Bytes> {
        plain_bail!(RUNTIME_ERROR, "Module[{}] does not support SaveToBytes", self.kind().to_bytes())
    }

    /// The source of the module in that format, empty when there is none.
    ///
    /// # Errors
    /// `MemoryError`, and any of an override.
    fn inspect_source(&self, _format: &String) -> Result<String> {
        String::new("")
    }
}

impl Module {
    /// Makes a module that C, C++ and Rust can use.
    ///
    /// # Errors
    /// `MemoryError`; `implementation` is dropped then.
    pub fn from_impl<T: ModuleImpl>(implementation: T) -> Result<Module> {
        record::allocate(implementation)
    }

    /// The implementation, when the module was made from a `T`. Only with std: boards do not keep the type.
    #[cfg(feature = "std")]
    pub fn implementation<T: ModuleImpl>(&self) -> Option<&T> {
        record::try_implementation(self)
    }

    /// The address that library contexts hold and C++ calls `this`: eight bytes before the handle. Borrowed.
    pub fn context_address(&self) -> *mut c_void {
        record::cxx_object(self)
    }

    /// Borrows the module at a [`context_address`](Module::context_address).
    ///
    /// # Errors
    /// `TypeError` when the object there is no module.
    ///
    /// # Safety
    /// There must be an object eight bytes after the address, alive while the result is used.
    pub unsafe fn from_context_address(address: NonNull<c_void>) -> Result<ManuallyDrop<Module>> {
        // SAFETY: the caller vouches for the object; only its header is looked at before its type is known.
        let module = unsafe { record::borrow_this(address.as_ptr()) };
        let found = module.as_object().type_index();
        plain_ensure!(
            module.as_object().is_instance::<Module>(),
            TYPE_ERROR,
            "The library context is no module but a `{}`",
            type_table::type_key_of(found)
        );
        Ok(module)
    }

    /// The kind, such as `library`.
    ///
    /// # Errors
    /// Here and below, those of the module: one of C++ may throw in any of its functions. `InternalError` for a module
    /// of C++ in a build that cannot call it.
    pub fn kind(&self) -> Result<&CStr> {
        (record::ops(self)?.kind)(self)
    }

    /// Which of [`BINARY_SERIALIZABLE`], [`RUNNABLE`] and [`COMPILATION_EXPORTABLE`] hold.
    ///
    /// # Errors
    /// Those of the module.
    pub fn property_mask(&self) -> Result<i32> {
        (record::ops(self)?.property_mask)(self)
    }

    /// The function of that name, here or, when `query_imports`, in the imports depth first.
    ///
    /// # Errors
    /// Those of the modules asked; `MemoryError`.
    pub fn get_function(&self, name: &String, query_imports: bool) -> Result<Option<Function>> {
        let found = self.search(Query::Function, name, query_imports)?;
        Ok(found.into_object().ok().and_then(|function| function.downcast().ok()))
    }

    /// Whether there is a function of that name, searched as [`get_function`](Module::get_function) does.
    ///
    /// # Errors
    /// Those of the modules asked; `MemoryError`.
    pub fn implements_function(&self, name: &String, query_imports: bool) -> Result<bool> {
        Ok(!self.search(Query::Implementation, name, query_imports)?.is_none())
    }

    /// The documentation of a function, searched as [`get_function`](Module::get_function) does.
    ///
    /// # Errors
    /// Those of the modules asked; `MemoryError`.
    pub fn function_doc(&self, name: &String, query_imports: bool) -> Result<Option<String>> {
        self.search(Query::Doc, name, query_imports)?.get()
    }

    /// The metadata of a function in JSON, searched as [`get_function`](Module::get_function) does.
    ///
    /// # Errors
    /// Those of the modules asked; `MemoryError`.
    pub fn function_metadata(&self, name: &String, query_imports: bool) -> Result<Option<String>> {
        self.search(Query::Metadata, name, query_imports)?.get()
    }

    /// The answer to a question about a function, here or, when `query_imports`, of the first import that has one; else None.
    fn search(&self, query: Query, name: &String, query_imports: bool) -> Result<Any> {
        let wanted = Wanted::Answer(query, name);
        if query_imports { wanted.of_tree(self) } else { wanted.of(self) }
    }

    /// Writes the module to a file.
    ///
    /// # Errors
    /// `RuntimeError` when the module cannot; errors of writing.
    pub fn write_to_file(&self, file: &String, format: &String) -> Result<()> {
        (record::ops(self)?.write_to_file)(self, file, format)
    }

    /// The formats that [`write_to_file`](Module::write_to_file) takes, an Array of String.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn write_formats(&self) -> Result<Array<String>> {
        (record::ops(self)?.write_formats)(self)
    }

    /// Serializes the module.
    ///
    /// # Errors
    /// `RuntimeError` when the module cannot.
    pub fn save_to_bytes(&self) -> Result<Bytes> {
        (record::ops(self)?.save_to_bytes)(self)
    }

    /// The source of the module in that format, empty when there is none.
    ///
    /// # Errors
    /// Those of the module; `MemoryError`.
    pub fn inspect_source(&self, format: &String) -> Result<String> {
        (record::ops(self)?.inspect_source)(self, format)
    }

    /// Appends `other` to the imports.
    ///
    /// # Errors
    /// `RuntimeError` when that would make a cycle; `MemoryError`.
    pub fn import_module(&self, other: &Module) -> Result<()> {
        (record::ops(self)?.import_module)(self, other)
    }

    /// Removes all imports.
    ///
    /// # Errors
    /// `MemoryError`.
    pub fn clear_imports(&self) -> Result<()> {
        (record::ops(self)?.clear_imports)(self)
    }

    /// The imports now, an Array of Module.
    ///
    /// # Errors
    /// `InternalError` when the module has none, against its contract.
    pub fn imports(&self) -> Result<ArrayObject> {
        imports::snapshot(self)
    }

    /// Finds a function for the host code of this module: in the imports depth first, then in the global
    /// table.
    ///
    /// The answer is remembered and borrowed: it lives as long as the module.
    ///
    /// # Errors
    /// `RuntimeError` when there is no such function; those of the modules asked; `MemoryError`.
    ///
    /// # Upstream
    /// `TVMFFIEnvModLookupFromImports`.
    pub fn lookup_from_imports(&self, name: &String) -> Result<NonNull<TVMFFIObject>> {
        imports::lookup(self, name)
    }

    /// Loads a module with `ffi.Module.load_from_file.EXT`, EXT being what follows the last dot of the name.
    ///
    /// # Errors
    /// `RuntimeError` when the name has no dot or no loader is registered for it; those of the loader.
    ///
    /// # Upstream
    /// `Module::LoadFromFile` in `module.cc`.
    pub fn load_from_file(file: &String) -> Result<Module> {
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

/// What a search looks for in modules.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// The answer to a question about a function of that name.
    Answer(Query, &'a String),
    /// That very module, for which the answer is true.
    Itself(&'a Module),
}

impl Wanted<'_> {
    /// The answer of one module; None when it has none.
    fn of(self, module: &Module) -> Result<Any> {
        match self {
            Wanted::Answer(query, name) => (record::ops(module)?.query)(module, query, name),
            Wanted::Itself(wanted) => {
                Ok(module.as_object().ptr_eq(wanted.as_object()).then_some(true).into())
            }
        }
    }

    /// The answer of a module, or of the first of its imports that has one.
    fn of_tree(self, module: &Module) -> Result<Any> {
        let found = self.of(module)?;
        if found.is_none() { imports::search(module, self) } else { Ok(found) }
    }
}

/// Calls the loader `prefix` + `kind`, a global function.
///
/// # Errors
/// What `missing` says of the kind when there is no such loader; those of the loader; `TypeError` when it gives no module;
/// `ValueError` when loaders nest too deep.
fn load(prefix: &[u8], kind: &[u8], args: &[AnyView<'_>], missing: fn(&[u8]) -> Error) -> Result<Module> {
    match global_table::get(SymbolName::join(&[prefix, kind])?.as_bytes())? {
        // It may ask for what it is loading.
        Some(loader) => stack::nest(|| loader.call(args))?.get(),
        None => Err(missing(kind)),
    }
}
