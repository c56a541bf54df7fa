//! The C interface through which code compiled by TVM runs parallel loops.

use core::ffi::{c_int, c_void};

/// The shared state of the tasks of one launch.
///
/// # Upstream
/// `TVMParallelGroupEnv` of `include/tvm/runtime/c_backend_api.h`.
#[repr(C)]
#[derive(Debug)]
pub struct ParallelGroupEnv {
    /// State of the launcher, used by barriers.
    pub sync_handle: *mut c_void,
    /// The number of tasks, among which the work is divided.
    pub num_task: i32,
}

/// One task of a launch. Receives its number, the shared environment and the launch's data; returns
/// 0, or -1 with an error raised.
///
/// # Upstream
/// `FTVMParallelLambda`.
pub type ParallelLambda =
    unsafe extern "C" fn(task_id: c_int, env: *mut ParallelGroupEnv, data: *mut c_void) -> c_int;

#[cfg(target_pointer_width = "64")]
assert_layout!(ParallelGroupEnv, size 16, align 8, { sync_handle: 0, num_task: 8 });
#[cfg(target_pointer_width = "32")]
assert_layout!(ParallelGroupEnv, size 8, align 4, { sync_handle: 0, num_task: 4 });
