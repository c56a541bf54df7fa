//! The seam to C++: functions of a library that is linked with a C++ runtime, installed once at the start.
//!
//! Code of C++ clients may throw. No exception may pass through a Rust frame, so where such code is called directly
//! (virtual functions of modules, key hooks), the call goes through here.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

use crate::module::ModuleOps;

/// The functions that a library linked with a C++ runtime provides.
pub struct CxxRuntime {
    /// The vptr of modules that are made here, through which C++ calls them.
    pub module_vptr: *const c_void,
    /// How modules with any other vptr are used: by their virtual functions.
    pub module_ops: ModuleOps,
    /// Calls a function that takes one or two values by address and returns its result in two registers.
    ///
    /// # Errors
    /// What it throws.
    ///
    /// # Safety
    /// The function must be of that shape and accept the values.
    pub call_hook: unsafe fn(hook: *mut c_void, values: [*const TVMFFIAny; 2]) -> Result<TVMFFIAny>,
}

// SAFETY: the vptr points to constants.
unsafe impl Sync for CxxRuntime {}

static RUNTIME: AtomicPtr<CxxRuntime> = AtomicPtr::new(ptr::null_mut());

/// Installs the functions for C++. C++ cannot call modules that were made before.
///
/// # Threads
/// Any thread; one store.
pub fn install(runtime: &'static CxxRuntime) {
    RUNTIME.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
}

fn runtime() -> Option<&'static CxxRuntime> {
    // SAFETY: only `install` stores here, and what it stores is static.
    unsafe { RUNTIME.load(Ordering::Acquire).as_ref() }
}

pub(crate) fn module_vptr() -> *const c_void {
    runtime().map_or(ptr::null(), |runtime| runtime.module_vptr)
}

pub(crate) fn module_ops() -> Option<&'static ModuleOps> {
    runtime().map(|runtime| &runtime.module_ops)
}

/// Calls an `__any_hash__` hook.
///
/// # Errors
/// What it throws.
///
/// # Safety
/// `hook` must be one, `key` a live value that it accepts.
pub(crate) unsafe fn call_hash(hook: *mut c_void, key: *const TVMFFIAny) -> Result<TVMFFIAny> {
    type Hook = unsafe extern "C-unwind" fn(*const TVMFFIAny) -> TVMFFIAny;
    match runtime() {
        // SAFETY: the caller vouches for the hook; it does not look at a second argument.
        Some(runtime) => unsafe { (runtime.call_hook)(hook, [key, ptr::null()]) },
        // SAFETY: as above.
        None => Ok(unsafe { core::mem::transmute::<*mut c_void, Hook>(hook)(key) }),
    }
}

/// Calls an `__any_equal__` hook.
///
/// # Errors
/// What it throws.
///
/// # Safety
/// As for [`call_hash`], with two values.
pub(crate) unsafe fn call_equal(
    hook: *mut c_void,
    lhs: *const TVMFFIAny,
    rhs: *const TVMFFIAny,
) -> Result<TVMFFIAny> {
    type Hook = unsafe extern "C-unwind" fn(*const TVMFFIAny, *const TVMFFIAny) -> TVMFFIAny;
    match runtime() {
        // SAFETY: the caller vouches for the hook.
        Some(runtime) => unsafe { (runtime.call_hook)(hook, [lhs, rhs]) },
        // SAFETY: as above.
        None => Ok(unsafe { core::mem::transmute::<*mut c_void, Hook>(hook)(lhs, rhs) }),
    }
}
