//! What code compiled by TVM asks of its runtime: workspaces and parallel loops.

use core::ffi::{c_int, c_void};
use core::ptr;

use ferrite_alloc_ext::backend;

use crate::boundary;

/// What the tasks of a parallel loop share.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TVMParallelGroupEnv {
    /// For the barrier; belongs to the library.
    pub sync_handle: *mut c_void,
    /// The number of tasks.
    pub num_task: i32,
}

/// One task of a parallel loop; returns 0, or -1 with an error raised on its thread.
pub type FTVMParallelLambda = Option<
    unsafe extern "C" fn(task_id: c_int, penv: *mut TVMParallelGroupEnv, cdata: *mut c_void) -> c_int,
>;

/// Gives memory for the time of a kernel, aligned to 64 bytes.
///
/// Only for the CPU and devices whose memory the CPU reads. The hints are ignored. Returns null with an error raised:
/// ValueError for a device without such memory, MemoryError when memory is refused.
#[unsafe(no_mangle)]
pub extern "C" fn TVMBackendAllocWorkspace(
    device_type: c_int,
    device_id: c_int,
    nbytes: u64,
    dtype_code_hint: c_int,
    dtype_bits_hint: c_int,
) -> *mut c_void {
    let _ = (dtype_code_hint, dtype_bits_hint);
    boundary::or_null(|| backend::alloc_workspace(device_type, device_id, nbytes))
}

/// Takes back what `TVMBackendAllocWorkspace` gave for the same device.
///
/// Returns 0; or -1 with ValueError raised when `ptr` is null.
///
/// # Safety
/// `ptr` is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendFreeWorkspace(
    device_type: c_int,
    device_id: c_int,
    ptr: *mut c_void,
) -> c_int {
    boundary::status(|| {
        let workspace = boundary::non_null(ptr, "ptr")?;
        // SAFETY: contract of this function.
        unsafe { backend::free_workspace(device_type, device_id, workspace) }
    })
}

/// Runs a function as `num_task` tasks, in parallel where there are threads, and waits for all of them.
///
/// 0 tasks means as many as there are workers. Returns 0; or -1 with an error raised when a task fails.
///
/// # Safety
/// `flambda` may run on several threads at once, each with its own `task_id`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelLaunch(
    flambda: FTVMParallelLambda,
    cdata: *mut c_void,
    num_task: c_int,
) -> c_int {
    boundary::status(|| {
        let task = boundary::callback(flambda, "flambda")?;
        // SAFETY: contract of this function.
        unsafe { backend::parallel_launch(task, cdata, num_task) }
    })
}

/// Waits until every task of the loop has come this far.
///
/// Returns 0; or -1 with an error raised.
///
/// # Safety
/// `penv` is what the task was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelBarrier(
    task_id: c_int,
    penv: *mut TVMParallelGroupEnv,
) -> c_int {
    boundary::status(|| {
        let group = boundary::non_null(penv, "penv")?;
        // SAFETY: contract of this function.
        unsafe { backend::parallel_barrier(task_id, group.as_ptr()) }
    })
}

/// Runs a function once per `*handle`, which is null before and not null afterwards.
///
/// Returns 0; or what the function returned when that was not 0, in which case a later call tries again.
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
        let handle = boundary::non_null(handle, "handle")?;
        let body = boundary::callback(f, "f")?;
        // SAFETY: contract of this function.
        unsafe { backend::run_once(handle.as_ptr(), body, cdata) }
    })
}
