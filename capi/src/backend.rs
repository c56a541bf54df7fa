//! What code compiled by TVM needs from its runtime: workspaces and parallel loops.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;

use ferrite_core::backend::{self, ParallelGroupEnv, ParallelLambda};

use crate::boundary::{self, arg};

/// Allocates memory for the duration of a kernel, aligned to 64 bytes on hosts and to `FERRITE_WORKSPACE_ALIGN` on
/// boards.
///
/// On devices, the result is what kernels take as a handle. The hints are ignored. Returns null with an error raised:
/// MemoryError when memory is refused, another one when the build serves no such device.
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

/// Frees memory of `TVMBackendAllocWorkspace` for the same device; null is ignored.
///
/// Returns 0; or -1 with an error raised when the build serves no such device, or when this is none of its workspaces.
///
/// # Safety
/// `ptr` is not used afterwards.
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

/// Runs a function as `num_task` tasks, in parallel where there are threads, and waits for all of them.
///
/// 0 tasks means as many as there are workers. A task takes the real number of tasks from its environment: nested loops, and
/// all loops without threads, run as one task. Returns 0; or -1 with an error raised: that of the task that failed first,
/// ValueError, or RuntimeError when so many tasks cannot run at once.
///
/// # Safety
/// `flambda` may run on several threads at once, each with its own `task_id`.
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

/// Waits until every task of the loop has called it.
///
/// Returns 0; or -1 with an error raised: ValueError, or RuntimeError when a task ended instead.
///
/// # Safety
/// `penv` is what the task was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelBarrier(task_id: c_int, penv: *mut ParallelGroupEnv) -> c_int {
    boundary::status(|| {
        let group = boundary::non_null(penv, arg(2, "penv"))?;
        // SAFETY: contract of this function.
        unsafe { backend::parallel_barrier(task_id, group.as_ptr()) }
    })
}

/// Runs a function once per `*handle`, which is null before and not null afterwards.
///
/// Of several threads one runs it and the others wait. Returns 0; or -1 with an error raised when the function
/// returns something else, in which case a later call tries again; RuntimeError when the function asks for the same handle.
/// `nbytes`, the size of what `cdata` points to, is ignored.
///
/// # Safety
/// `handle` is written by this function only.
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
