//! Functions that return a class, for C++ callers.
//!
//! C++ passes the address of such a result as a hidden argument. On x86-64 that is an ordinary first argument; on AArch64 it
//! has a register of its own, x8, which no Rust signature expresses. So the Rust functions take it first, and C++ gets
//! thunks: without a frame, so that exceptions do not meet them.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

use super::throw::or_throw;

/// Makes a thunk of the same name as the Rust function `$function` in the module `$thunks`, under a C++ name if one is given.
macro_rules! returns_class {
    ($($(#[doc = $doc:literal])* $thunk:ident $(= $name:literal)? => $function:path;)*) => {$(
        $(#[doc = $doc])*
        #[unsafe(naked)]
        $(#[unsafe(export_name = $name)])?
        pub(super) unsafe extern "C-unwind" fn $thunk() {
            $crate::cxx::export::forward!($function)
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
macro_rules! forward {
    ($function:path) => {
        core::arch::naked_asm!("jmp {function}", function = sym $function)
    };
}

/// Moves up to four arguments.
#[cfg(target_arch = "aarch64")]
macro_rules! forward {
    ($function:path) => {
        core::arch::naked_asm!(
            "mov x4, x3", "mov x3, x2", "mov x2, x1", "mov x1, x0", "mov x0, x8", "b {function}",
            function = sym $function
        )
    };
}

pub(super) use {forward, returns_class};

/// Where an object reference goes.
pub(super) type ObjectOut = *mut *mut TVMFFIObject;
/// Where a cell goes: Any, String, Bytes or Optional.
pub(super) type CellOut = *mut TVMFFIAny;

/// The cell that `body` makes, for C++ to own; an error is thrown.
///
/// # Safety
/// `out` must have room for it.
pub(super) unsafe fn cell<T: AnyCompatible>(out: CellOut, body: impl FnOnce() -> Result<T>) -> *mut c_void {
    let cell = or_throw(|| Ok(body()?.into_any().into_raw()));
    // SAFETY: the caller vouches for the place.
    unsafe { out.write(cell) };
    out.cast()
}

/// The object that `body` makes, or null for None, for C++ to own; an error is thrown.
///
/// # Safety
/// `out` must have room for a reference.
pub(super) unsafe fn object<T: AnyCompatible>(
    out: ObjectOut,
    body: impl FnOnce() -> Result<T>,
) -> *mut c_void {
    let cell = or_throw(|| Ok(body()?.into_any().into_raw()));
    // SAFETY: the caller vouches for the place; the payload of an object is its address, that of None is zero.
    unsafe { out.write(cell.payload.v_obj.cast()) };
    out.cast()
}
