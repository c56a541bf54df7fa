//! Backtraces on bare metal: not recorded, always empty.

use core::ffi::{c_char, c_int, c_void};

use crate::abi::TVMFFIByteArray;

/// An empty string for C.
struct EmptyString(TVMFFIByteArray);

// SAFETY: never written; points to a constant.
unsafe impl Sync for EmptyString {}

static EMPTY: EmptyString = EmptyString(TVMFFIByteArray { data: c"".as_ptr(), size: 0 });

/// Returns an empty string for every request. Never null, valid forever.
///
/// # Safety
/// None: the arguments are not read.
///
/// # Upstream
/// `TVMFFIBacktrace` in `backtrace.cc`.
pub unsafe fn capture_for_c(
    _filename: *const c_char,
    _line: c_int,
    _func: *const c_char,
    _cross_ffi_boundary: bool,
    _entry: *const c_void,
) -> *const TVMFFIByteArray {
    &raw const EMPTY.0
}
