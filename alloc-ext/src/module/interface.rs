//! Interface of modules: the reference type, the trait of implementations in Rust, and the function
//! table through which modules in Rust and C++ are used.

use core::ffi::CStr;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, Function, String, object_class, plain_bail};

use crate::containers::Array;

/// Property flag: the module can be serialised by `save_to_bytes` and deserialised by
/// `ffi.Module.load_from_bytes.KIND`.
pub const BINARY_SERIALIZABLE: i32 = 0b001;
/// Property flag: the module has functions that can be called.
pub const RUNNABLE: i32 = 0b010;
/// Property flag: the module can be written as object code or source code, which is then compiled
/// and loaded as a library.
pub const COMPILATION_EXPORTABLE: i32 = 0b100;

object_class! {
    /// Reference to a module, implemented in Rust or C++: a collection of named functions, with
    /// imports of other modules.
    ///
    /// # Threads
    /// Any thread may use a module. Imports may be added or removed during lookups.
    ///
    /// # Upstream
    /// `tvm::ffi::Module` in `extra/module.h`.
    pub struct Module, type_index::MODULE, "ffi.Module"
}

/// Implementation of a module in Rust, for example for the code of a device. Pass it to
/// [`Module::from_impl`].
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::module::{Module, ModuleImpl};
/// use ferrite_core::{AnyView, Function, Result, String};
///
/// struct Adder;
///
/// impl ModuleImpl for Adder {
///     fn kind(&self) -> &core::ffi::CStr {
///         c"adder"
///     }
///
///     fn get_function(&self, _: &Module, name: &String) -> Result<Option<Function>> {
///         match name.as_bytes() {
///             b"add" => Function::from_typed(|a: i64, b: i64| a + b).map(Some),
///             _ => Ok(None),
///         }
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let module = Module::from_impl(Adder)?;
/// let add = module.get_function(&String::new("add")?, false)?.expect("the module has it");
/// assert_eq!(add.call_packed(&[AnyView::from(1i64), AnyView::from(2i64)])?.get::<i64>()?, 3);
/// # Ok(())
/// # }
/// ```
///
/// # Upstream
/// The virtual functions of `ModuleObj` in `extra/module.h`.
pub trait ModuleImpl: Send + Sync + 'static {
    /// Returns the kind of the module, for which `ffi.Module.load_from_bytes.KIND` is the loader.
    fn kind(&self) -> &CStr;

    /// Returns a mask of [`BINARY_SERIALIZABLE`], [`RUNNABLE`] and [`COMPILATION_EXPORTABLE`].
    fn property_mask(&self) -> i32 {
        0
    }

    /// Looks up a function by name; `None` if there is none. A function that needs `module` must
    /// own a reference to it, since the caller may drop the module.
    ///
    /// # Errors
    /// Any.
    fn get_function(&self, module: &Module, name: &String) -> Result<Option<Function>>;

    /// Returns `true` if the module has a function with this name, even if it has to be compiled
    /// before it can run.
    ///
    /// # Errors
    /// Errors of [`get_function`](ModuleImpl::get_function).
    fn implements_function(&self, module: &Module, name: &String) -> Result<bool> {
        Ok(self.get_function(module, name)?.is_some())
    }

    /// Returns the documentation of a function; `None` if there is none.
    ///
    /// # Errors
    /// Any.
    fn function_doc(&self, _name: &String) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the metadata of a function as JSON; `None` if there is none.
    ///
    /// # Errors
    /// Any.
    fn function_metadata(&self, _name: &String) -> Result<Option<String>> {
        Ok(None)
    }

    /// Writes the module to a file in one of the [`write_formats`](ModuleImpl::write_formats), for
    /// further compilation.
    ///
    /// # Errors
    /// RuntimeError by default; any error of an override.
    fn write_to_file(&self, _file: &String, _format: &String) -> Result<()> {
        plain_bail!(
            RUNTIME_ERROR,
            "Module[{}] does not support WriteToFile",
            self.kind().to_bytes()
        )
    }

    /// Returns the formats that [`write_to_file`](ModuleImpl::write_to_file) supports.
    ///
    /// # Errors
    /// MemoryError.
    fn write_formats(&self) -> Result<Array<String>> {
        Array::new()
    }

    /// Serialises the module.
    ///
    /// # Errors
    /// RuntimeError by default; any error of an override.
    fn save_to_bytes(&self) -> Result<Bytes> {
        plain_bail!(
            RUNTIME_ERROR,
            "Module[{}] does not support SaveToBytes",
            self.kind().to_bytes()
        )
    }

    /// Returns the source code of the module in a format; empty if there is none.
    ///
    /// # Errors
    /// MemoryError by default; any error of an override.
    fn inspect_source(&self, _format: &String) -> Result<String> {
        String::new("")
    }

    /// Adds `other` to the imports in a way of the implementation, such as on the machine that the
    /// module stands for. Returns `false` by default: the module keeps its imports itself.
    ///
    /// # Errors
    /// Any; nothing is imported then.
    #[cfg(feature = "std")]
    fn import_elsewhere(&self, _module: &Module, _other: &Module) -> Result<bool> {
        Ok(false)
    }
}

/// Function table of a module: one function per operation, except that one function answers all
/// four queries by name.
///
/// # Upstream
/// The virtual functions of `ModuleObj` in `extra/module.h`, in their order.
#[expect(
    missing_docs,
    reason = "each is what the method of `ModuleImpl` or `Module` with its name says"
)]
pub struct ModuleOps {
    pub kind: for<'a> fn(&'a Module) -> Result<&'a CStr>,
    pub property_mask: fn(&Module) -> Result<i32>,
    pub query: fn(&Module, Query, &String) -> Result<Any>,
    pub write_to_file: fn(&Module, &String, &String) -> Result<()>,
    pub write_formats: fn(&Module) -> Result<Array<String>>,
    pub save_to_bytes: fn(&Module) -> Result<Bytes>,
    pub inspect_source: fn(&Module, &String) -> Result<String>,
    pub import_module: fn(&Module, &Module) -> Result<()>,
    pub clear_imports: fn(&Module) -> Result<()>,
}

/// Query about a function by name. The answer is None if the module has no such function.
#[derive(Clone, Copy)]
pub enum Query {
    /// The function itself.
    Function,
    /// Whether the function exists: any value other than None means yes.
    Implementation,
    /// The documentation, a String.
    Doc,
    /// The metadata, a String of JSON.
    Metadata,
}
