//! Interface of the code that runs parallel launches, and the run of a single task.

use core::ffi::c_void;

use crate::call::function;
use crate::error::Result;
use crate::error::raised_error::Mark;
use crate::plain_error;

pub use crate::abi::{ParallelGroupEnv, ParallelLambda};

/// The functions that implement parallel launches and barriers.
pub struct Launcher {
    /// Runs `lambda` as `num_task` tasks and waits for them. If `num_task` is 0, the launcher
    /// chooses the number of tasks. It may run fewer tasks than requested; `env.num_task` is the
    /// actual number.
    ///
    /// Tasks of one launch run on different threads, so that all of them can reach a barrier.
    ///
    /// `lambda` may be called with `data` from several threads at once until the launch returns.
    ///
    /// # Errors
    /// The error of the first task that failed; RuntimeError if that many tasks cannot run
    /// concurrently.
    pub launch: unsafe fn(lambda: ParallelLambda, data: *mut c_void, num_task: i32) -> Result<()>,
    /// Waits until every task of the launch has reached the barrier.
    ///
    /// `env` is the environment that this launcher passed to the calling task.
    ///
    /// # Errors
    /// RuntimeError if a task ended before it reached the barrier.
    pub barrier: unsafe fn(env: *mut ParallelGroupEnv) -> Result<()>,
}

/// Runs one task of a launch on the calling thread.
///
/// # Errors
/// The error that the task raised, or RuntimeError if it failed without raising one.
///
/// # Safety
/// `lambda` must accept `env` and `data`.
pub unsafe fn run_task(
    lambda: ParallelLambda,
    task_id: i32,
    env: *mut ParallelGroupEnv,
    data: *mut c_void,
) -> Result<()> {
    let before = Mark::now();
    // SAFETY: the caller guarantees the arguments.
    let status = unsafe { lambda(task_id, env, data) };
    if status == 0 {
        return Ok(());
    }
    Err(function::raised_since(status, before).unwrap_or_else(|| {
        plain_error!(
            RUNTIME_ERROR,
            "parallel task {} failed without raising an error: status {}",
            task_id,
            status;
            "task failed"
        )
    }))
}
