//! Modules as C++ classes, in a library that is linked with a C++ runtime.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

use crate::module::ModuleOps;

/// The class `tvm::ffi::ModuleObj`, as a library linked with a C++ runtime provides it.
pub struct CxxClass {
    /// The vptr of modules that are made here, through which C++ calls them.
    pub vptr: *const c_void,
    /// The operations of modules with any other vptr: calls of their virtual functions.
    pub ops: ModuleOps,
}

// SAFETY: the vptr points to constants.
unsafe impl Sync for CxxClass {}

static CLASS: AtomicPtr<CxxClass> = AtomicPtr::new(ptr::null_mut());

/// Installs the class. C++ cannot call modules that were made before.
///
/// # Threads
/// Any thread; one store.
pub fn install(class: &'static CxxClass) {
    CLASS.store(ptr::from_ref(class).cast_mut(), Ordering::Release);
}

fn class() -> Option<&'static CxxClass> {
    // SAFETY: only `install` stores here, and its argument is static.
    unsafe { CLASS.load(Ordering::Acquire).as_ref() }
}

/// The vptr of modules that are made here; null before the class is installed.
pub(in crate::module) fn vptr() -> *const c_void {
    class().map_or(ptr::null(), |class| class.vptr)
}

/// The operations of modules with any other vptr.
pub(in crate::module) fn ops() -> Option<&'static ModuleOps> {
    class().map(|class| &class.ops)
}
