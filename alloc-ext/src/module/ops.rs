//! The functions of a Rust module as plain function pointers, for its vtable.

use core::ffi::CStr;

use ferrite_core::error::Result;
use ferrite_core::{Bytes, Function, String};

use super::record::implementation;
use super::vtable::ModuleOps;
use super::{Module, ModuleImpl};
use crate::containers::Array;

/// The functions of modules implemented by `T`.
///
/// They are only reachable through the vtable of `T`, so every module that they get is implemented by `T`.
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
    }
}

fn kind<T: ModuleImpl>(module: &Module) -> &CStr {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.kind()
}

fn property_mask<T: ModuleImpl>(module: &Module) -> i32 {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.property_mask()
}

fn get_function<T: ModuleImpl>(module: &Module, name: &String) -> Result<Option<Function>> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.get_function(module, name)
}

fn implements_function<T: ModuleImpl>(module: &Module, name: &String) -> Result<bool> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.implements_function(module, name)
}

fn function_doc<T: ModuleImpl>(module: &Module, name: &String) -> Result<Option<String>> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.function_doc(name)
}

fn function_metadata<T: ModuleImpl>(module: &Module, name: &String) -> Result<Option<String>> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.function_metadata(name)
}

fn write_to_file<T: ModuleImpl>(module: &Module, file: &String, format: &String) -> Result<()> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.write_to_file(file, format)
}

fn write_formats<T: ModuleImpl>(module: &Module) -> Result<Array<String>> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.write_formats()
}

fn save_to_bytes<T: ModuleImpl>(module: &Module) -> Result<Bytes> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.save_to_bytes()
}

fn inspect_source<T: ModuleImpl>(module: &Module, format: &String) -> Result<String> {
    // SAFETY: reached through the vtable of `T` only.
    unsafe { implementation::<T>(module) }.inspect_source(format)
}
