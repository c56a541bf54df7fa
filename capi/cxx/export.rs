//! Functions that return a class to C++ callers.
//!
//! C++ passes the address of a class result as a hidden argument. On x86-64 that is an ordinary first argument; on
//! AArch64 it is in the register x8, which no Rust signature expresses. So the Rust functions take it as first
//! argument, and C++ calls thunks, which have no frame, so that exceptions pass them.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

use super::throw::or_throw;

/// Creates a thunk for the Rust function `$function`, under a C++ name if one is given.
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

/// Shifts up to four arguments.
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

/// The destination of an object reference.
pub(super) type ObjectOut = *mut *mut TVMFFIObject;
/// The destination of a cell: Any, String, Bytes or Optional.
pub(super) type CellOut = *mut TVMFFIAny;

/// Stores the cell of the value that `body` returns, owned by C++; throws its error.
///
/// # Safety
/// `out` must be writable for a cell.
pub(super) unsafe fn cell<T: AnyCompatible>(out: CellOut, body: impl FnOnce() -> Result<T>) -> *mut c_void {
    let cell = or_throw(|| Ok(body()?.into_any().into_raw()));
    // SAFETY: the caller vouches for `out`.
    unsafe { out.write(cell) };
    out.cast()
}

/// Stores the object that `body` returns, or null for None, owned by C++; throws its error.
///
/// # Safety
/// `out` must be writable for a reference.
pub(super) unsafe fn object<T: AnyCompatible>(
    out: ObjectOut,
    body: impl FnOnce() -> Result<T>,
) -> *mut c_void {
    let cell = or_throw(|| Ok(body()?.into_any().into_raw()));
    // SAFETY: the caller vouches for `out`; the payload of an object is its address, that of None is zero.
    unsafe { out.write(cell.payload.v_obj.cast()) };
    out.cast()
}
