//! The memory of running kernels, as in the profile `minimal`.

use core::ffi::{c_int, c_void};

use ferrite_core::backend::workspace;
use ferrite_core::plain_ensure;

use crate::boundary;

/// Sets the buffer from which `TVMBackendAllocWorkspace` serves compiled functions, and resets the high-water mark.
///
/// Until then workspaces come from the pool. Each takes its size rounded up to `FERRITE_WORKSPACE_ALIGN`, and one such
/// unit more. They are freed in reverse order, so the buffer is for one task and for what interrupts it. Null with size
/// 0 unsets the buffer. Returns 0; or -1 with an error raised: ValueError for null with a size, RuntimeError while a
/// workspace is in use.
///
/// # Safety
/// Nobody else uses the buffer until another one is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteWorkspaceSet(buffer: *mut c_void, size: usize) -> c_int {
    boundary::status(|| {
        plain_ensure!(!buffer.is_null() || size == 0, VALUE_ERROR, "Argument `buffer` must not be null");
        // SAFETY: contract of this function.
        unsafe { workspace::set_buffer(buffer, size) }
    })
}

/// Returns the most bytes of the workspace buffer that were in use at once: the size that it needs.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteWorkspaceHighWater() -> usize {
    workspace::high_water()
}
