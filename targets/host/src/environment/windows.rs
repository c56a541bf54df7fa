//! Environment variables of the process: each C library has a copy, and a process may have several
//! C libraries.

use core::ffi::CStr;

use windows_sys::Win32::System::Environment::GetEnvironmentVariableA;

/// Size of the longest value in bytes. Longer ones count as not set; all variables of this crate
/// are numbers.
const MAX_BYTES: usize = 256;

/// Calls `use_text` with the value of a variable. Returns `None` if it is not set.
pub(crate) fn read<R>(name: &CStr, use_text: impl FnOnce(&[u8]) -> R) -> Option<R> {
    let mut text = [0; MAX_BYTES];
    // SAFETY: the name ends in a NUL, and the buffer has this size.
    let len = unsafe {
        GetEnvironmentVariableA(name.as_ptr().cast(), text.as_mut_ptr(), MAX_BYTES as u32) as usize
    };
    // The size that a longer value needs exceeds the buffer's.
    text.get(..len).filter(|text| !text.is_empty()).map(use_text)
}
