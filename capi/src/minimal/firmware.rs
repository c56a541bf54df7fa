//! What firmware asks of this profile only, under names of its own.

use core::ffi::{c_int, c_void};

use ferrite_core::minimal::{Refusal, workspace};

use super::boundary::status;

/// Hands over the memory that `TVMBackendAllocWorkspace` gives to compiled functions, and starts the high-water mark again.
///
/// Until then there is none. Each workspace takes its bytes, rounded up to the alignment of workspaces, and one such unit more.
/// Null with size 0 takes the buffer back. Returns 0; or -1 with an error raised: ValueError for null with a size, RuntimeError
/// while a workspace is in use.
///
/// # Safety
/// Nobody else uses the buffer until another one is set.
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

/// Tells the most bytes of the workspace buffer that were in use at once: what the buffer needs to have.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteWorkspaceHighWater() -> usize {
    workspace::high_water()
}
