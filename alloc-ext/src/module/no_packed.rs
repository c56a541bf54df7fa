//! Stubs for builds without the feature `packed`, which do not support packed-function libraries.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::{Function, String};

use super::Module;
use super::library::{Library, LibraryRef};

#[inline]
pub(super) fn symbol_of(_library: &dyn Library, _name: &String) -> Result<Option<NonNull<c_void>>> {
    Ok(None)
}

#[inline]
pub(super) fn function(
    _library: &dyn Library,
    _module: &Module,
    _name: &String,
) -> Result<Option<Function>> {
    Ok(None)
}

#[inline]
pub(super) fn context(_library: &dyn Library) -> Result<Option<NonNull<c_void>>> {
    Ok(None)
}

#[inline]
pub(super) fn embedded(
    _library: &LibraryRef,
    _own: impl Fn() -> Result<Module>,
) -> Result<Option<(Module, Option<Module>)>> {
    Ok(None)
}
