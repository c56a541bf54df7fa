//! The functions by which a module is used, whoever made it.

use core::ffi::CStr;

use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, String};

use super::record::implementation;
use super::{Module, ModuleImpl, imports};
use crate::containers::Array;

/// One function for each that a module may have of its own.
///
/// # Upstream
/// The virtual functions of `ModuleObj` in `extra/module.h`, in their order.
#[expect(missing_docs, reason = "each is what the method of `ModuleImpl` or `Module` with its name says")]
pub struct ModuleOps {
    pub kind: for<'a> fn(&'a Module) -> Result<&'a CStr>,
    pub property_mask: fn(&Module) -> Result<i32>,
    pub get_function: fn(&Module, &String) -> Result<Option<Function>>,
    pub implements_function: fn(&Module, &String) -> Result<bool>,
    pub function_doc: fn(&Module, &String) -> Result<Option<String>>,
    pub function_metadata: fn(&Module, &String) -> Result<Option<String>>,
    pub write_to_file: fn(&Module, &String, &String) -> Result<()>,
    pub write_formats: fn(&Module) -> Result<Array<String>>,
    pub save_to_bytes: fn(&Module) -> Result<Bytes>,
    pub inspect_source: fn(&Module, &String) -> Result<String>,
    pub import_module: fn(&Module, &Module) -> Result<()>,
    pub clear_imports: fn(&Module) -> Result<()>,
}

/// The functions of modules implemented by `T`.
///
/// They are only reachable through the records of such modules, so every module that they get is one.
pub(super) const fn of<T: ModuleImpl>() -> ModuleOps {
    ModuleOps {
        kind: kind::<T>,
        property_mask: property_mask::<T>,
        get_function: get_function::<T>,
        implements_function: implements_function::<T>,
        function_doc: function_doc::<T>,
        function_metadata: function_metadata::<T>,
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

fn get_function<T: ModuleImpl>(module: &Module, name: &String) -> Result<Option<Function>> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.get_function(module, name)
}

fn implements_function<T: ModuleImpl>(module: &Module, name: &String) -> Result<bool> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.implements_function(module, name)
}

fn function_doc<T: ModuleImpl>(module: &Module, name: &String) -> Result<Option<String>> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.function_doc(name)
}

fn function_metadata<T: ModuleImpl>(module: &Module, name: &String) -> Result<Option<String>> {
    // SAFETY: reached through records of `T` only.
    unsafe { implementation::<T>(module) }.function_metadata(name)
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
