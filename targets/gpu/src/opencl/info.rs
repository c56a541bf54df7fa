//! Strings that the driver returns, such as names and logs.

use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::{api, failure};

/// Reads a string from the driver: first its size, then its content without the terminating NUL.
///
/// # Errors
/// Errors of the driver; MemoryError.
pub(super) fn info(
    query: impl Fn(usize, *mut core::ffi::c_void, *mut usize) -> api::Status,
) -> Result<Buffer<u8>> {
    let mut size = 0;
    failure::check(query(0, ptr::null_mut(), &mut size))?;
    let mut text = Buffer::new();
    text.try_resize(size, 0u8)?;
    if size != 0 {
        failure::check(query(size, text.as_mut_slice().as_mut_ptr().cast(), ptr::null_mut()))?;
    }
    while text.last() == Some(&0) {
        text.pop();
    }
    Ok(text)
}
