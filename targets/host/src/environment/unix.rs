//! Environment variables by `getenv`.

use core::ffi::CStr;

/// Calls `use_text` with the value of a variable. Returns `None` if it is not set.
pub(crate) fn read<R>(name: &CStr, use_text: impl FnOnce(&[u8]) -> R) -> Option<R> {
    // SAFETY: the name ends in a NUL. As everywhere in C, changing the environment concurrently is
    // the program's mistake.
    let text = unsafe { libc::getenv(name.as_ptr()) };
    if text.is_null() {
        return None;
    }
    // SAFETY: environment strings end in a NUL.
    Some(use_text(unsafe { CStr::from_ptr(text) }.to_bytes()))
}
