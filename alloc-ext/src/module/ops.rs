//! Function tables of modules, implemented in Rust or C++.

use core::ffi::CStr;

use ferrite_core::error::Result;
use ferrite_core::{Any, Bytes, String};

use super::record::implementation;
use super::{Module, ModuleImpl, imports};
use crate::containers::Array;

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

/// Returns the function table of modules implemented by `T`.
///
/// The table is reachable only through records of such modules, so its functions are only called
/// with such modules.
pub(super) const fn of<T: ModuleImpl>() -> ModuleOps {
    ModuleOps {
        kind: kind::<T>,
        property_mask: property_mask::<T>,
        query: query::<T>,
        write_to_file: write_to_file::<T>,
        write_formats: write_formats::<T>,
        save_to_bytes: save_to_bytes::<T>,
        inspect_source: inspect_source::<T>,
        import_module: imports::append,
        clear_imports: imports::clear,
    }
}

fn kind<T: ModuleImpl>(module: &Module) -> Result<&CStr> {
    // SAFETY: reached through records of `T` only.
    Ok(unsafe { implementation::<T>(module) }.kind())
}

fn property_mask<T: ModuleImpl>(module: &Module) -> Result<i32> {
    // SAFETY: reached through records of `T` only.
    Ok(unsafe { implementation::<T>(module) }.property_mask())
}

fn query<T: ModuleImpl>(module: &Module, query: Query, name: &String) -> Result<Any> {
    // SAFETY: reached through records of `T` only.
    let implementation = unsafe { implementation::<T>(module) };
    Ok(match query {
        Query::Function => implementation.get_function(module, name)?.into(),
        Query::Implementation => {
            implementation.implements_function(module, name)?.then_some(true).into()
        }
        Query::Doc => implementation.function_doc(name)?.into(),
        Query::Metadata => implementation.function_metadata(name)?.into(),
    })
}

fn write_to_file<T: ModuleImpl>(module: &Module, file: &String, format: &String) -> Result<()> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.write_to_file(file, format)
}

fn write_formats<T: ModuleImpl>(module: &Module) -> Result<Array<String>> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.write_formats()
}

fn save_to_bytes<T: ModuleImpl>(module: &Module) -> Result<Bytes> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.save_to_bytes()
}

fn inspect_source<T: ModuleImpl>(module: &Module, format: &String) -> Result<String> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.inspect_source(format)
}
