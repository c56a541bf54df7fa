//! Errors of the driver.

use core::ffi::CStr;

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

use super::api::{self, Api, Status};

/// Returns `true` if a call succeeded, or had nothing to do any more.
#[inline]
pub(super) fn is_done(status: Status) -> bool {
    matches!(status, api::SUCCESS | api::DEINITIALIZED)
}

/// The kind of errors about kernels that a module does not have.
const ROCM_ERROR: &[u8] = b"ROCMError";

impl Api {
    /// Turns the status of a call into a result.
    ///
    /// # Errors
    /// As [`error`](Api::error).
    #[inline]
    pub(super) fn check(&self, call: &str, status: Status) -> Result<()> {
        if status == api::SUCCESS { Ok(()) } else { Err(self.error(call, status)) }
    }

    /// Turns the status of a call that makes nothing into a result. That the driver is shutting down is no error then, since the
    /// process ends.
    ///
    /// # Errors
    /// As [`error`](Api::error).
    #[inline]
    pub(super) fn check_done(&self, call: &str, status: Status) -> Result<()> {
        if is_done(status) { Ok(()) } else { Err(self.error(call, status)) }
    }

    /// The error of a call: MemoryError when the device is out of memory, else InternalError.
    #[cold]
    pub(super) fn error(&self, call: &str, status: Status) -> Error {
        let text = self.text(status);
        match status {
            api::OUT_OF_MEMORY => {
                plain_error!(MEMORY_ERROR, "ROCM HIP Error: {} failed with error: {}", call, text)
            }
            _ => plain_error!(INTERNAL_ERROR, "ROCM HIP Error: {} failed with error: {}", call, text),
        }
    }

    /// The error for a kernel that a module does not have.
    #[cold]
    pub(super) fn missing_kernel(&self, name: &[u8], status: Status) -> Error {
        let text = self.text(status);
        Error::from_parts(ferrite_core::__error_site!(), ROCM_ERROR, &|out| {
            out.put(b"hipModuleGetFunction ");
            out.put(name);
            out.put(b" failed with error: ");
            out.put(text);
        })
    }

    /// The driver's text for a status. Other users of HIP in this thread do not see the failure any more.
    pub(super) fn text(&self, status: Status) -> &'static [u8] {
        // SAFETY: the driver's texts are constants.
        unsafe {
            (self.hipGetLastError)();
            let text = (self.hipGetErrorString)(status);
            if text.is_null() { b"an unknown error" } else { CStr::from_ptr(text).to_bytes() }
        }
    }
}
