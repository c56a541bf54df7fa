//! Modules as C++ objects, in libraries linked with a C++ runtime.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};

use crate::module::interface::ModuleOps;

/// Static data of the C++ class `tvm::ffi::ModuleObj`, provided by a library that is linked with a
/// C++ runtime.
pub struct CxxClass {
    /// Virtual table pointer of modules created by this library, through which C++ code calls them.
    pub vptr: *const c_void,
    /// Operations of modules created by C++ code, which call their virtual functions.
    pub ops: ModuleOps,
}

// SAFETY: the virtual table consists of constants.
unsafe impl Sync for CxxClass {}

static CLASS: AtomicPtr<CxxClass> = AtomicPtr::new(ptr::null_mut());

/// Installs the class. C++ code cannot call modules created earlier.
///
/// # Threads
/// Any thread; one atomic store.
///
/// # Safety
/// The virtual table must be that of `tvm::ffi::ModuleObj`.
pub unsafe fn install(class: &'static CxxClass) {
    CLASS.store(ptr::from_ref(class).cast_mut(), Ordering::Release);
}

fn class() -> Option<&'static CxxClass> {
    // SAFETY: only `install` stores here, and only static references.
    unsafe { CLASS.load(Ordering::Acquire).as_ref() }
}

/// Returns the virtual table pointer of modules created by this library; null until the class is
/// installed.
pub(in crate::module) fn vptr() -> *const c_void {
    class().map_or(ptr::null(), |class| class.vptr)
}

/// Returns the operations of modules of C++ classes; `None` until the class is installed.
pub(in crate::module) fn ops() -> Option<&'static ModuleOps> {
    class().map(|class| &class.ops)
}
