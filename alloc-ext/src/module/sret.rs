//! Calling and being called by C++ functions that return a class through memory.

use core::ffi::c_void;

use ferrite_core::abi::TVMFFIAny;

/// A member function without arguments that writes its result to `out` and returns `out`.
pub type Sret0 = unsafe extern "C-unwind" fn(out: *mut c_void, this: *mut c_void) -> *mut c_void;
/// The same with one argument by reference.
pub type Sret1 = unsafe extern "C-unwind" fn(
    out: *mut c_void,
    this: *mut c_void,
    argument: *const TVMFFIAny,
) -> *mut c_void;

/// Calls a C++ slot without arguments.
///
/// # Safety
/// `slot` must be of that shape and `out` have room for its result.
pub unsafe fn call0(slot: Sret0, out: *mut c_void, this: *mut c_void) {
    // SAFETY: the caller vouches for the slot; the address of the result is an ordinary first argument on
    // this target.
    unsafe { slot(out, this) };
}

/// Calls a C++ slot with one argument.
///
/// # Safety
/// As for [`call0`].
pub unsafe fn call1(slot: Sret1, out: *mut c_void, this: *mut c_void, argument: *const TVMFFIAny) {
    // SAFETY: as for `call0`.
    unsafe { slot(out, this, argument) };
}

/// The slot for a function of the shape [`Sret0`].
macro_rules! slot0 {
    ($function:ident) => {
        $function as $crate::module::sret::Sret0
    };
}
/// The slot for a function of the shape [`Sret1`].
macro_rules! slot1 {
    ($function:ident) => {
        $function as $crate::module::sret::Sret1
    };
}
pub(super) use {slot0, slot1};
