//! Runtime support for code compiled by TVM: workspaces, parallel loops and one-time
//! initialisation.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;

use ferrite_core::call::backend::{self, ParallelGroupEnv, ParallelLambda};

use crate::boundary::{self, arg};

/// Allocates memory for the duration of a kernel, aligned to 64 bytes on hosts and to
/// `FERRITE_WORKSPACE_ALIGN` on bare metal.
///
/// On devices other than the CPU, the result is a memory handle for kernels. The type hints are
/// ignored. Returns the memory, or null with an error raised: MemoryError when out of memory, a
/// different error if the build does not support the device.
#[cfg_attr(not(platform_workspaces), unsafe(no_mangle))]
pub extern "C" fn TVMBackendAllocWorkspace(
    device_type: c_int,
    device_id: c_int,
    nbytes: u64,
    dtype_code_hint: c_int,
    dtype_bits_hint: c_int,
) -> *mut c_void {
    let _ = (dtype_code_hint, dtype_bits_hint);
    boundary::pointer(|| backend::alloc_workspace(device_type, device_id, nbytes))
}

/// Frees memory allocated by `TVMBackendAllocWorkspace` for the same device. Null is ignored.
///
/// Returns 0, or -1 with an error raised if the build does not support the device, or if `ptr` is
/// not a workspace of the device.
///
/// # Safety
/// `ptr` must not be used afterwards.
#[cfg_attr(not(platform_workspaces), unsafe(no_mangle))]
pub unsafe extern "C" fn TVMBackendFreeWorkspace(
    device_type: c_int,
    device_id: c_int,
    ptr: *mut c_void,
) -> c_int {
    boundary::status(|| match NonNull::new(ptr) {
        // SAFETY: contract of this function.
        Some(workspace) => unsafe { backend::free_workspace(device_type, device_id, workspace) },
        None => Ok(()),
    })
}

/// Runs a function as `num_task` tasks, in parallel if the build has threads, and waits for all of
/// them.
///
/// If `num_task` is 0, runs one task per worker thread. A task reads the actual number of tasks
/// from its environment: nested loops, and all loops without threads, run as one task. Returns 0,
/// or -1 with an error raised: the error of the first task that failed, ValueError for invalid
/// arguments, or RuntimeError if that many tasks cannot run concurrently.
///
/// # Safety
/// `flambda` must be callable on several threads concurrently, each with its own `task_id`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelLaunch(
    flambda: Option<ParallelLambda>,
    cdata: *mut c_void,
    num_task: c_int,
) -> c_int {
    boundary::status(|| {
        let task = boundary::callback(flambda, arg(1, "flambda"))?;
        // SAFETY: contract of this function.
        unsafe { backend::parallel_launch(task, cdata, num_task) }
    })
}

/// Waits until every task of the loop has reached the barrier.
///
/// Returns 0, or -1 with an error raised: ValueError for a null environment, or RuntimeError if a
/// task ended before it reached the barrier.
///
/// # Safety
/// `penv` must be the environment of the task.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelBarrier(
    task_id: c_int,
    penv: *mut ParallelGroupEnv,
) -> c_int {
    boundary::status(|| {
        let group = boundary::non_null(penv, arg(2, "penv"))?;
        // SAFETY: contract of this function.
        unsafe { backend::parallel_barrier(task_id, group.as_ptr()) }
    })
}

/// Runs a function once per handle. `*handle` must be null initially, and is not null afterwards.
///
/// If several threads call this concurrently, one runs the function and the others wait. Returns 0,
/// or -1 with an error raised: the error of the function, after which a later call tries again, or
/// RuntimeError if the function itself calls this for the same handle. `nbytes`, the size of the
/// data at `cdata`, is ignored.
///
/// # Safety
/// `handle` must only be written by this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendRunOnce(
    handle: *mut *mut c_void,
    f: Option<unsafe extern "C" fn(cdata: *mut c_void) -> c_int>,
    cdata: *mut c_void,
    nbytes: c_int,
) -> c_int {
    let _ = nbytes;
    boundary::status(|| {
        let handle = boundary::non_null(handle, arg(1, "handle"))?;
        let body = boundary::callback(f, arg(2, "f"))?;
        // SAFETY: contract of this function.
        unsafe { backend::run_once(handle.as_ptr(), body, cdata) }
    })
}

#[cfg(platform_workspaces)]
mod hooked {
    use super::{TVMBackendAllocWorkspace as allocate, TVMBackendFreeWorkspace as free};

    ferrite_microtvm::platform_workspaces!(allocate, free);
}
