//! Functions that C++ calls and that return a class, under the C++ calling convention.
//!
//! C++ passes the address of a class result as a hidden argument: as an ordinary first argument on
//! x86-64, in register x8 on AArch64. Rust cannot express the latter. So the Rust functions take
//! the address as their first argument, and C++ calls thunks that move it there. Thunks have no
//! stack frame, so that exceptions can propagate through them.

use core::ffi::c_void;

use ferrite_core::abi::{TVMFFIAny, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::value::convert::IntoAny;

use super::throw::or_throw;

/// Defines a thunk for the Rust function `$function`, exported under a C++ name if one is given.
macro_rules! returns_class {
    ($($(#[doc = $doc:literal])* $thunk:ident $(= $name:literal)? => $function:path;)*) => {$(
        $(#[doc = $doc])*
        #[unsafe(naked)]
        $(#[unsafe(export_name = $name)])?
        pub(super) unsafe extern "C-unwind" fn $thunk() {
            $crate::export::forward!($function)
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
macro_rules! forward {
    ($function:path) => {
        core::arch::naked_asm!("jmp {function}", function = sym $function)
    };
}

/// Expands to the assembly of a thunk: moves x8 to the first argument register, and shifts up to
/// four arguments.
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

/// Address of the result for a function that returns an object reference.
pub(super) type ObjectOut = *mut *mut TVMFFIObject;
/// Address of the result for a function that returns a cell: Any, String, Bytes or Optional.
pub(super) type CellOut = *mut TVMFFIAny;

/// Stores the result of `body` as a cell owned by the C++ caller. Throws the error of `body`, if
/// any, as a C++ exception.
///
/// # Safety
/// `out` must be writable for a cell.
pub(super) unsafe fn cell<T: IntoAny>(
    out: CellOut,
    body: impl FnOnce() -> Result<T>,
) -> *mut c_void {
    let cell = or_throw(|| Ok(body()?.try_into_any()?.into_raw()));
    // SAFETY: the caller guarantees `out`.
    unsafe { out.write(cell) };
    out.cast()
}

/// Stores the result of `body` as an object reference owned by the C++ caller; null for None.
/// Throws the error of `body`, if any, as a C++ exception.
///
/// # Safety
/// `out` must be writable for a reference.
pub(super) unsafe fn object<T: IntoAny>(
    out: ObjectOut,
    body: impl FnOnce() -> Result<T>,
) -> *mut c_void {
    let cell = or_throw(|| Ok(body()?.try_into_any()?.into_raw()));
    // SAFETY: the caller guarantees `out`; the payload of an object is its address, that of None is
    // zero.
    unsafe { out.write(cell.payload.v_obj.cast()) };
    out.cast()
}
