//! Errors of the HIP driver.

use core::ffi::CStr;

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;

use super::api::{self, Api, Status};

/// Returns `true` if a call succeeded, or if the driver is shutting down.
#[inline]
pub(super) fn is_done(status: Status) -> bool {
    matches!(status, api::SUCCESS | api::DEINITIALIZED)
}

/// Error kind for a kernel that a module does not contain.
const ROCM_ERROR: &[u8] = b"ROCMError";

impl Api {
    /// Converts the status of a call into a result.
    ///
    /// # Errors
    /// Same errors as [`error`](Api::error).
    #[inline]
    pub(super) fn check(&self, call: &str, status: Status) -> Result<()> {
        if status == api::SUCCESS { Ok(()) } else { Err(self.error(call, status)) }
    }

    /// Converts the status of a call into a result. `DEINITIALIZED` counts as success: the driver
    /// is shutting down because the process is exiting.
    ///
    /// # Errors
    /// Same errors as [`error`](Api::error).
    #[inline]
    pub(super) fn check_done(&self, call: &str, status: Status) -> Result<()> {
        if is_done(status) { Ok(()) } else { Err(self.error(call, status)) }
    }

    /// Returns the error of a call: MemoryError if the device is out of memory, otherwise
    /// InternalError.
    #[cold]
    pub(super) fn error(&self, call: &str, status: Status) -> Error {
        let text = self.text(status);
        match status {
            api::OUT_OF_MEMORY => {
                plain_error!(MEMORY_ERROR, "ROCM HIP Error: {} failed with error: {}", call, text)
            }
            _ => {
                plain_error!(INTERNAL_ERROR, "ROCM HIP Error: {} failed with error: {}", call, text)
            }
        }
    }

    /// Returns the ROCMError for a kernel that a module does not contain.
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

    /// Returns the driver's description of a status. Clears HIP's last error, so that other users
    /// of HIP on this thread do not see it.
    pub(super) fn text(&self, status: Status) -> &'static [u8] {
        // SAFETY: the driver returns static strings.
        unsafe {
            (self.hipGetLastError)();
            let text = (self.hipGetErrorString)(status);
            if text.is_null() { b"an unknown error" } else { CStr::from_ptr(text).to_bytes() }
        }
    }
}
