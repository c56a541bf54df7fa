//! Context symbols for the C functions of `ferrite_core::call::backend`. The constants are entries
//! for the table passed to [`install_builtin`](super::context::install_builtin).

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::call::backend::{
    ParallelGroupEnv, ParallelLambda, alloc_workspace, free_workspace, parallel_barrier,
    parallel_launch,
};
use ferrite_core::error::{Result, raised_error};
use ferrite_core::plain_error;

use super::context::ContextSymbol;

/// Context symbol `__TVMBackendAllocWorkspace`, a C function over [`alloc_workspace`].
pub const ALLOC_WORKSPACE: ContextSymbol =
    // SAFETY: a function with the signature of that symbol.
    unsafe { ContextSymbol::new(c"__TVMBackendAllocWorkspace", alloc as *const c_void) };
/// Context symbol `__TVMBackendFreeWorkspace`, a C function over [`free_workspace`].
pub const FREE_WORKSPACE: ContextSymbol =
    // SAFETY: a function with the signature of that symbol.
    unsafe { ContextSymbol::new(c"__TVMBackendFreeWorkspace", free as *const c_void) };
/// Context symbol `__TVMBackendParallelLaunch`, a C function over [`parallel_launch`].
pub const PARALLEL_LAUNCH: ContextSymbol =
    // SAFETY: a function with the signature of that symbol.
    unsafe { ContextSymbol::new(c"__TVMBackendParallelLaunch", launch as *const c_void) };
/// Context symbol `__TVMBackendParallelBarrier`, a C function over [`parallel_barrier`].
pub const PARALLEL_BARRIER: ContextSymbol =
    // SAFETY: a function with the signature of that symbol.
    unsafe { ContextSymbol::new(c"__TVMBackendParallelBarrier", barrier as *const c_void) };

/// Implements `TVMBackendAllocWorkspace`. Returns null and raises an error on failure.
extern "C" fn alloc(
    device_type: c_int,
    device_id: c_int,
    size_bytes: u64,
    _dtype_code_hint: c_int,
    _dtype_bits_hint: c_int,
) -> *mut c_void {
    match alloc_workspace(device_type, device_id, size_bytes) {
        Ok(workspace) => workspace.as_ptr(),
        Err(error) => {
            raised_error::set(error);
            ptr::null_mut()
        }
    }
}

/// Implements `TVMBackendFreeWorkspace`. Ignores null. Returns 0, or -1 with an error raised.
///
/// # Safety
/// `workspace` must be null or satisfy the contract of [`free_workspace`].
unsafe extern "C" fn free(device_type: c_int, device_id: c_int, workspace: *mut c_void) -> c_int {
    NonNull::new(workspace).map_or(0, |workspace| {
        // SAFETY: the caller guarantees the workspace.
        status(unsafe { free_workspace(device_type, device_id, workspace) })
    })
}

/// Implements `TVMBackendParallelLaunch`. Returns 0, or -1 with an error raised.
///
/// # Safety
/// Same requirements as [`parallel_launch`].
unsafe extern "C" fn launch(
    lambda: Option<ParallelLambda>,
    data: *mut c_void,
    num_task: c_int,
) -> c_int {
    let Some(lambda) = lambda else {
        return status(Err(plain_error!(VALUE_ERROR, "a parallel launch needs a function")));
    };
    // SAFETY: the caller guarantees the function and its data.
    status(unsafe { parallel_launch(lambda, data, num_task) })
}

/// Implements `TVMBackendParallelBarrier`. Returns 0, or -1 with an error raised.
///
/// # Safety
/// Same requirements as [`parallel_barrier`].
unsafe extern "C" fn barrier(task_id: c_int, env: *mut ParallelGroupEnv) -> c_int {
    // SAFETY: the caller guarantees the environment.
    status(unsafe { parallel_barrier(task_id, env) })
}

/// Converts a result to a C status: 0, or -1 with the error raised.
fn status(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            raised_error::set(error);
            -1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::abi::kDLCPU;

    #[test]
    fn a_workspace_comes_and_goes() {
        let workspace = alloc(kDLCPU, 0, 100, 2, 32);
        // Without `std` the alignment is the build's choice, at least that of a pointer.
        let alignment = if cfg!(feature = "std") { 64 } else { align_of::<usize>() };
        assert_eq!(workspace.addr() % alignment, 0);
        // SAFETY: the workspace is returned once; null is allowed.
        unsafe {
            assert_eq!(free(kDLCPU, 0, workspace), 0);
            assert_eq!(free(kDLCPU, 0, ptr::null_mut()), 0);
        }
    }

    #[test]
    fn failures_are_raised() {
        assert!(alloc(kDLCPU, 0, u64::MAX, 2, 32).is_null());
        assert_eq!(raised_error::take().unwrap().kind_bytes(), b"MemoryError");
        // SAFETY: there is not a function to receive the data, and null is allowed.
        unsafe {
            assert_eq!(launch(None, ptr::null_mut(), 0), -1);
            assert_eq!(raised_error::take().unwrap().kind_bytes(), b"ValueError");
            assert_eq!(barrier(0, ptr::null_mut()), -1);
        }
        assert_eq!(raised_error::take().unwrap().kind_bytes(), b"ValueError");
    }
}
