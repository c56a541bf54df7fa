//! Direct calls of C++ hooks, for builds without a C++ runtime. The hooks must not throw.

use core::ffi::c_void;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;

/// Calls an `__any_hash__` hook, and returns its result.
///
/// # Errors
/// None.
///
/// # Safety
/// `hook` must be an `__any_hash__` hook that does not throw, and `key` a live value that it
/// accepts.
pub(crate) unsafe fn call_hash(hook: *mut c_void, key: *const TVMFFIAny) -> Result<TVMFFIAny> {
    type Hook = unsafe extern "C" fn(*const TVMFFIAny) -> TVMFFIAny;
    // SAFETY: the caller guarantees the hook and its argument.
    Ok(unsafe { core::mem::transmute::<*mut c_void, Hook>(hook)(key) })
}

/// Calls an `__any_equal__` hook, and returns its result.
///
/// # Errors
/// None.
///
/// # Safety
/// `hook` must be an `__any_equal__` hook that does not throw; `lhs` and `rhs` must be live values
/// that it accepts.
pub(crate) unsafe fn call_equal(
    hook: *mut c_void,
    lhs: *const TVMFFIAny,
    rhs: *const TVMFFIAny,
) -> Result<TVMFFIAny> {
    type Hook = unsafe extern "C" fn(*const TVMFFIAny, *const TVMFFIAny) -> TVMFFIAny;
    // SAFETY: the caller guarantees the hook and its arguments.
    Ok(unsafe { core::mem::transmute::<*mut c_void, Hook>(hook)(lhs, rhs) })
}
