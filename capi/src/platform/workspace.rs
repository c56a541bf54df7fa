//! C functions for the workspace buffer of compiled functions, in the profiles `core` and `full`.

use core::ffi::{c_int, c_void};

use ferrite_core::call::backend::workspace;
use ferrite_core::plain_ensure;

use crate::boundary;

/// Sets the buffer from which `TVMBackendAllocWorkspace` allocates, and resets the high-water mark.
///
/// Without a buffer, workspaces are allocated from the memory pool. Each workspace takes its size
/// rounded up to a multiple of `FERRITE_WORKSPACE_ALIGN`, plus `FERRITE_WORKSPACE_ALIGN` bytes of
/// overhead. Workspaces are freed in reverse order, so the buffer can be used by one task and its
/// interrupt handlers only. Null with size 0 unsets the buffer. Returns 0, or -1 with an error
/// raised: ValueError for null with a nonzero size, RuntimeError while a workspace is in use.
///
/// # Safety
/// No other code may use the buffer until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteWorkspaceSet(buffer: *mut c_void, size: usize) -> c_int {
    boundary::status(|| {
        plain_ensure!(
            !buffer.is_null() || size == 0,
            VALUE_ERROR,
            "Argument `buffer` must not be null"
        );
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
