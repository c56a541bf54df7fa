//! The memory of running kernels, as in the profile `minimal`.

use core::ffi::{c_int, c_void};

use ferrite_core::backend::workspace;
use ferrite_core::plain_ensure;

use crate::boundary;

/// Hands over the memory that `TVMBackendAllocWorkspace` gives to compiled functions, and starts the high-water mark again.
///
/// Until then workspaces come from the pool. Each takes its bytes, rounded up to `FERRITE_WORKSPACE_ALIGN`, and one such unit more,
/// and is given back in the reverse order: the buffer is for one task and what interrupts it. Null with size 0 takes the buffer back.
/// Returns 0; or -1 with an error raised: ValueError for null with a size, RuntimeError while a workspace is in use.
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

/// Tells the most bytes of the workspace buffer that were in use at once: what the buffer needs to have.
#[unsafe(no_mangle)]
pub extern "C" fn FerriteWorkspaceHighWater() -> usize {
    workspace::high_water()
}
