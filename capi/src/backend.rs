//! What code compiled by TVM asks of its runtime: workspaces and parallel loops.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_alloc_ext::backend::parallel::{self, ParallelGroupEnv, ParallelLambda};
use ferrite_alloc_ext::backend::workspace;
use ferrite_core::function;

use crate::boundary;

/// Gives memory for the time of a kernel, aligned to 64 bytes.
///
/// Only main memory; the hints are ignored. Returns null with an error raised: ValueError when the device is not the CPU,
/// MemoryError when memory is refused.
#[unsafe(no_mangle)]
pub extern "C" fn TVMBackendAllocWorkspace(
    device_type: c_int,
    device_id: c_int,
    nbytes: u64,
    dtype_code_hint: c_int,
    dtype_bits_hint: c_int,
) -> *mut c_void {
    workspace::alloc_workspace(device_type, device_id, nbytes, dtype_code_hint, dtype_bits_hint)
}

/// Takes back what `TVMBackendAllocWorkspace` gave for the same device; null is ignored.
///
/// Returns 0; or -1 with ValueError raised when the device is not the CPU.
///
/// # Safety
/// `ptr` is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendFreeWorkspace(
    device_type: c_int,
    device_id: c_int,
    ptr: *mut c_void,
) -> c_int {
    // SAFETY: contract of this function.
    unsafe { workspace::free_workspace(device_type, device_id, ptr) }
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
    // SAFETY: contract of this function.
    unsafe { parallel::parallel_launch(flambda, cdata, num_task) }
}

/// Waits until every task of the loop has come this far.
///
/// Returns 0; or -1 with an error raised: ValueError, or RuntimeError when a task ended instead.
///
/// # Safety
/// `penv` is what the task was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMBackendParallelBarrier(task_id: c_int, penv: *mut ParallelGroupEnv) -> c_int {
    // SAFETY: contract of this function.
    unsafe { parallel::parallel_barrier(task_id, penv) }
}

/// Runs a function once per `*handle`, which is null before and not null afterwards.
///
/// A caller that comes while the function runs does not wait for it. Returns 0; or -1 with an error raised when the function
/// returns something else, in which case a later call tries again. `nbytes`, the size of what `cdata` points to, is ignored.
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
        // SAFETY: the handle is valid, and only written here.
        let handle = unsafe { AtomicPtr::from_ptr(handle.as_ptr()) };
        if !handle.load(Ordering::Acquire).is_null() {
            return Ok(());
        }
        // Any address will do. A plain store: cores without compare-and-swap have this function too.
        handle.store(ptr::from_ref(&DONE).cast_mut().cast(), Ordering::Release);
        // SAFETY: contract of this function.
        let outcome = function::check_status(unsafe { body(cdata) });
        if outcome.is_err() {
            handle.store(ptr::null_mut(), Ordering::Release);
        }
        outcome
    })
}

/// What handles of functions that ran point to.
static DONE: u8 = 0;
