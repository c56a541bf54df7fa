//! The launcher of builds without threads: every launch is one task on the calling thread.

use core::ffi::c_void;
use core::ptr;

use crate::error::Result;

use super::launcher::{self, Launcher, ParallelGroupEnv, ParallelLambda};

pub(super) static LAUNCHER: Launcher = Launcher { launch, barrier };

/// Runs `lambda` as a single task.
///
/// # Safety
/// Same requirements as [`Launcher::launch`].
///
/// # Upstream
/// `TVMBackendParallelLaunch` with one worker, which does not run more tasks either.
unsafe fn launch(lambda: ParallelLambda, data: *mut c_void, _num_task: i32) -> Result<()> {
    let mut env = ParallelGroupEnv { sync_handle: ptr::null_mut(), num_task: 1 };
    // SAFETY: the caller guarantees `lambda` and `data`.
    unsafe { launcher::run_task(lambda, 0, &raw mut env, data) }
}

/// Returns at once: a single task waits for no other.
///
/// # Safety
/// Same requirements as [`Launcher::barrier`].
unsafe fn barrier(_env: *mut ParallelGroupEnv) -> Result<()> {
    Ok(())
}
