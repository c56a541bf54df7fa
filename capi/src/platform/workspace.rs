//! The workspace buffer of compiled functions, as in the profile `minimal`.

use core::ffi::{c_int, c_void};

use ferrite_core::backend::workspace;
use ferrite_core::plain_ensure;

use crate::boundary;

/// Sets the buffer from which `TVMBackendAllocWorkspace` allocates, and resets the high-water mark.
///
/// Without a buffer, workspaces come from the pool. Each takes its size rounded up to `FERRITE_WORKSPACE_ALIGN`, plus
/// one such unit. They are freed in reverse order, so the buffer serves one task and its interrupt handlers. Null with
/// size 0 unsets the buffer. Returns 0; or -1 with an error raised: ValueError for null with a size, RuntimeError while
/// a workspace is in use.
///
/// # Safety
/// Nothing else uses the buffer until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteWorkspaceSet(buffer: *mut c_void, size: usize) -> c_int {
    boundary::status(|| {
        plain_ensure!(!buffer.is_null() || size == 0, VALUE_ERROR, "Argument `buffer` must not be null");
        // SAFETY: contract of this function.
        unsafe { workspace::set_buffer(buffer, size) }
    })
}

/// Returns the high-water mark of the workspace buffer in bytes: the size that it needs.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteWorkspaceHighWater() -> usize {
    workspace::high_water()
}
