//! Functions for firmware in this profile only.

use core::ffi::{c_int, c_void};

use ferrite_core::minimal::{Refusal, workspace};

use super::boundary::status;

/// Sets the buffer from which `TVMBackendAllocWorkspace` allocates, and resets the high-water mark.
///
/// Initially there is none. Each workspace takes its size rounded up to the alignment of workspaces, plus one such
/// unit. Null with size 0 unsets the buffer. Returns 0; or -1 with an error raised: ValueError for null with a size,
/// RuntimeError while a workspace is in use.
///
/// # Safety
/// Nothing else uses the buffer until another one is set.
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

/// Returns the high-water mark of the workspace buffer in bytes: the size that it needs.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteWorkspaceHighWater() -> usize {
    workspace::high_water()
}
