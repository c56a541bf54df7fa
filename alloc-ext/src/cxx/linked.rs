//! Calls of C++ hooks that catch exceptions, for libraries linked with a C++ runtime.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};

/// Functions provided by a library that is linked with a C++ runtime.
pub struct CxxRuntime {
    /// Calls a hook that takes one or two values by address and returns a cell in two registers.
    /// Catches exceptions.
    ///
    /// # Errors
    /// The exception that the hook throws, as an error.
    ///
    /// # Safety
    /// The hook must have that signature and accept the values.
    pub call_hook: unsafe fn(hook: *mut c_void, values: [*const TVMFFIAny; 2]) -> Result<TVMFFIAny>,
}

static RUNTIME: AtomicPtr<CxxRuntime> = AtomicPtr::new(ptr::null_mut());

/// Installs the C++ runtime. Before that, hooks are called directly and must not throw.
///
/// # Threads
/// Any thread; one atomic store.
///
/// # Safety
/// `call_hook` must return an owned value, or the plain number that a hook before 0.1.15 returns.
pub unsafe fn install(runtime: &'static CxxRuntime) {
    RUNTIME.store(ptr::from_ref(runtime).cast_mut(), Ordering::Release);
}

fn runtime() -> Option<&'static CxxRuntime> {
    // SAFETY: only `install` stores here, and only static references.
    unsafe { RUNTIME.load(Ordering::Acquire).as_ref() }
}

/// Calls an `__any_hash__` hook, and returns its result.
///
/// # Errors
/// The exception that the hook throws.
///
/// # Safety
/// `hook` must be an `__any_hash__` hook, and `key` a live value that it accepts.
pub(crate) unsafe fn call_hash(hook: *mut c_void, key: *const TVMFFIAny) -> Result<TVMFFIAny> {
    type Hook = unsafe extern "C-unwind" fn(*const TVMFFIAny) -> TVMFFIAny;
    match runtime() {
        // SAFETY: the caller guarantees the hook and its argument; it does not read the second.
        Some(runtime) => unsafe { (runtime.call_hook)(hook, [key, ptr::null()]) },
        // SAFETY: as above.
        None => Ok(unsafe { core::mem::transmute::<*mut c_void, Hook>(hook)(key) }),
    }
}

/// Calls an `__any_equal__` hook, and returns its result.
///
/// # Errors
/// The exception that the hook throws.
///
/// # Safety
/// `hook` must be an `__any_equal__` hook; `lhs` and `rhs` must be live values that it accepts.
pub(crate) unsafe fn call_equal(
    hook: *mut c_void,
    lhs: *const TVMFFIAny,
    rhs: *const TVMFFIAny,
) -> Result<TVMFFIAny> {
    type Hook = unsafe extern "C-unwind" fn(*const TVMFFIAny, *const TVMFFIAny) -> TVMFFIAny;
    match runtime() {
        // SAFETY: the caller guarantees the hook and its arguments.
        Some(runtime) => unsafe { (runtime.call_hook)(hook, [lhs, rhs]) },
        // SAFETY: as above.
        None => Ok(unsafe { core::mem::transmute::<*mut c_void, Hook>(hook)(lhs, rhs) }),
    }
}
