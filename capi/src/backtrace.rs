//! Section "Backtrace": the call stack as text.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::TVMFFIByteArray;
use ferrite_core::backtrace;

/// Describes the call stack of this thread, one line per frame, most recent call first.
///
/// `filename`, `lineno` and `func` form the first line, in place of the frame of the caller, unless `filename` or
/// `func` is null. With `cross_ffi_boundary` 0 the text ends at the innermost call through this ABI.
///
/// The result belongs to the thread and is valid until the thread's next call. Never null. Empty in builds without
/// backtraces.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIBacktrace(
    filename: *const c_char,
    lineno: c_int,
    func: *const c_char,
    cross_ffi_boundary: c_int,
) -> *const TVMFFIByteArray {
    let entry = TVMFFIBacktrace as *const c_void;
    // SAFETY: contract of the crate.
    unsafe { backtrace::capture_for_c(filename, lineno, func, cross_ffi_boundary != 0, entry) }
}
