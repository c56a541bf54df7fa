//! Calling and being called by C++ functions that return a class through memory, on AArch64.
//!
//! The address of the result travels in x8, beside the arguments, and need not come back. Each slot that C++
//! calls is a thunk that moves it in front of the arguments.

use core::arch::asm;
use core::ffi::c_void;

use ferrite_core::abi::TVMFFIAny;

/// The thunk of a member function without arguments; only its address is used.
pub type Sret0 = unsafe extern "C-unwind" fn(this: *mut c_void);
/// The thunk of one with an argument by reference.
pub type Sret1 = unsafe extern "C-unwind" fn(this: *mut c_void, argument: *const TVMFFIAny);

/// Calls a C++ slot without arguments.
///
/// # Safety
/// `slot` must be of that shape and `out` have room for its result.
pub unsafe fn call0(slot: Sret0, out: *mut c_void, this: *mut c_void) {
    // SAFETY: the caller vouches for the slot; a C call clobbers what `clobber_abi` says.
    unsafe { asm!("blr {slot}", slot = in(reg) slot, in("x8") out, in("x0") this, clobber_abi("C")) };
}

/// Calls a C++ slot with one argument.
///
/// # Safety
/// As for [`call0`].
pub unsafe fn call1(slot: Sret1, out: *mut c_void, this: *mut c_void, argument: *const TVMFFIAny) {
    // SAFETY: as for `call0`.
    unsafe {
        asm!("blr {slot}", slot = in(reg) slot, in("x8") out, in("x0") this, in("x1") argument, clobber_abi("C"));
    }
}

/// The slot for a function of the shape `(out, this)`.
macro_rules! slot0 {
    ($function:ident) => {{
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn thunk(this: *mut core::ffi::c_void) {
            core::arch::naked_asm!("mov x1, x0", "mov x0, x8", "b {function}", function = sym $function)
        }
        thunk
    }};
}
/// The slot for a function of the shape `(out, this, argument)`.
macro_rules! slot1 {
    ($function:ident) => {{
        #[unsafe(naked)]
        unsafe extern "C-unwind" fn thunk(this: *mut core::ffi::c_void, argument: *const TVMFFIAny) {
            core::arch::naked_asm!("mov x2, x1", "mov x1, x0", "mov x0, x8", "b {function}", function = sym $function)
        }
        thunk
    }};
}
pub(super) use {slot0, slot1};
