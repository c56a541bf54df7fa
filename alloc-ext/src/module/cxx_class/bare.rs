//! Builds without a C++ runtime: modules have no virtual table, and modules of C++ classes are not
//! supported.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use crate::module::interface::ModuleOps;

/// Returns null: modules created by this library have no virtual table.
pub(in crate::module) fn vptr() -> *const c_void {
    core::ptr::null()
}

/// Returns `None`: modules of C++ classes are not supported.
pub(in crate::module) fn ops() -> Option<&'static ModuleOps> {
    None
}
