//! Modules without a C++ class: C++ cannot call those made here, and those of C++ classes are refused.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use crate::module::ModuleOps;

/// The vptr of modules that are made here: null.
pub(in crate::module) fn vptr() -> *const c_void {
    core::ptr::null()
}

/// No operations for modules of C++ classes.
pub(in crate::module) fn ops() -> Option<&'static ModuleOps> {
    None
}
