//! Builds without C++: modules have no virtual table, and modules of C++ classes are refused.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use crate::module::ModuleOps;

/// Returns the virtual table pointer of modules made here: null.
pub(in crate::module) fn vptr() -> *const c_void {
    core::ptr::null()
}

/// Returns the operations of modules of C++ classes: none.
pub(in crate::module) fn ops() -> Option<&'static ModuleOps> {
    None
}
