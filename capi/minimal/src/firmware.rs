//! C functions for firmware that only the profile `minimal` has: the workspace buffer.

use core::ffi::{c_int, c_void};

use crate::engine::{Refusal, workspace};

use super::boundary::status;

/// Sets the buffer from which `TVMBackendAllocWorkspace` allocates, and resets the high-water mark.
///
/// Initially there is no buffer. Each workspace takes its size rounded up to a multiple of
/// `FERRITE_WORKSPACE_ALIGN`, plus `FERRITE_WORKSPACE_ALIGN` bytes of overhead. Null with size 0
/// unsets the buffer. Returns 0, or -1 with an error raised: ValueError for null with a nonzero
/// size, RuntimeError while a workspace is in use.
///
/// # Safety
/// No other code may use the buffer until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteWorkspaceSet(buffer: *mut c_void, size: usize) -> c_int {
    status(|| {
        if buffer.is_null() && size != 0 {
            return Err(Refusal::ARGUMENT);
        }
        // SAFETY: contract of this function.
        unsafe { workspace::set_buffer(buffer, size) }
    })
}

/// Returns the high-water mark of the workspace buffer in bytes: the size that the buffer must
/// have.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteWorkspaceHighWater() -> usize {
    workspace::high_water()
}
