//! Symbols of the header section "Backtrace": the call stack as a string.

use core::ffi::{c_char, c_int, c_void};

use ferrite_core::abi::TVMFFIByteArray;
use ferrite_core::platform::backtrace;

/// Describes the call stack of this thread, one line per frame, most recent call first.
///
/// `filename`, `lineno` and `func` form the first line, in place of the caller's frame, unless
/// `filename` or `func` is null. If `cross_ffi_boundary` is 0, the backtrace ends at the innermost
/// call through this ABI.
///
/// The result is stored in thread-local memory and is valid until the thread's next call of this
/// function. It is never null. It is empty in builds without backtraces.
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
