//! Errors of the CUDA driver.

use core::ffi::CStr;
use core::ptr;

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

use super::api::{self, Api, Status};

/// Error kind of driver errors.
pub(super) const CUDA_ERROR: &str = "CUDAError";

/// Calls a driver function that creates or returns something:
/// `made!(api, cuEventCreate(&mut event, 0))?`. Fails if the driver is shutting down.
macro_rules! made {
    ($api:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let api: &$crate::cuda::api::Api = $api;
        $crate::cuda::failure::check_made(api, stringify!($function), (api.$function)($($argument),*))
    }};
}

/// Calls a driver function that returns nothing. Succeeds if the driver is shutting down, since the
/// process ends.
macro_rules! done {
    ($api:expr, $function:ident($($argument:expr),* $(,)?)) => {{
        let api: &$crate::cuda::api::Api = $api;
        $crate::cuda::failure::check_done(api, stringify!($function), (api.$function)($($argument),*))
    }};
}

pub(super) use {done, made};

/// Converts the status of a call that returns something into a result.
///
/// # Errors
/// Same errors as [`error`].
#[inline]
pub(super) fn check_made(api: &Api, call: &str, status: Status) -> Result<()> {
    if status == api::SUCCESS { Ok(()) } else { Err(error(api, call, status)) }
}

/// Converts the status of a call that returns nothing into a result. A driver that is shutting down
/// is not an error.
///
/// # Errors
/// Same errors as [`error`].
#[inline]
pub(super) fn check_done(api: &Api, call: &str, status: Status) -> Result<()> {
    if is_done(status) { Ok(()) } else { Err(error(api, call, status)) }
}

/// Returns `true` if a call succeeded, or if the driver is shutting down.
#[inline]
pub(super) fn is_done(status: Status) -> bool {
    matches!(status, api::SUCCESS | api::DEINITIALIZED)
}

/// Returns the error for a status: MemoryError if the device is out of memory, otherwise CUDAError.
#[cold]
pub(super) fn error(api: &Api, call: &str, status: Status) -> Error {
    let name = name(api, status);
    if status == api::OUT_OF_MEMORY {
        return plain_error!(MEMORY_ERROR, "{} failed with error: {}", call, name);
    }
    cuda_error(&[call.as_bytes(), b" failed with error: ", name])
}

/// Returns a CUDAError whose message is the concatenated text.
#[cold]
pub(super) fn cuda_error(text: &[&[u8]]) -> Error {
    Error::from_parts(ferrite_core::__error_site!(), CUDA_ERROR, &|out| {
        text.iter().for_each(|piece| out.put_lossy(piece));
    })
}

/// Returns the driver's name of a status.
pub(super) fn name(api: &Api, status: Status) -> &'static [u8] {
    let mut name = ptr::null();
    // SAFETY: the driver writes the address of a static text.
    unsafe {
        match (api.cuGetErrorName)(status, &mut name) {
            api::SUCCESS if !name.is_null() => CStr::from_ptr(name).to_bytes(),
            _ => b"an unknown error",
        }
    }
}
