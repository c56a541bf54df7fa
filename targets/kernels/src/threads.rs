//! Parallel loops on the thread pool of the program.

use crate::arguments::Result;

/// Number of floating-point operations below which a loop runs on the calling thread. Two threads
/// that are awake take 0.7 of the time of one there, on a Zen 4 where a launch costs 0.6 us.
#[cfg(feature = "threads")]
const PARALLEL_WORK: usize = 1 << 18;

/// Runs a function as tasks, given its number and the number of tasks. Work below the threshold is
/// one task on the calling thread.
///
/// # Errors
/// The first error of a task, or of the pool.
pub fn launch<F: Fn(usize, usize) -> Result<()> + Sync>(work: usize, run: F) -> Result<()> {
    #[cfg(feature = "threads")]
    if work >= PARALLEL_WORK {
        return pool::launch(&run);
    }
    let _ = work;
    run(0, 1)
}

/// Returns the part of `0..count` that belongs to a task, in whole steps.
pub fn share(count: usize, step: usize, task: usize, tasks: usize) -> core::ops::Range<usize> {
    let steps = count.div_ceil(step);
    let at = |task: usize| (steps * task / tasks * step).min(count);
    at(task)..at(task + 1)
}

#[cfg(feature = "threads")]
mod pool {
    use core::ffi::{c_int, c_void};

    use ferrite_core::abi::ParallelGroupEnv;

    use crate::arguments::{Raised, Result};

    type Lambda = unsafe extern "C" fn(c_int, *mut ParallelGroupEnv, *mut c_void) -> c_int;

    unsafe extern "C" {
        fn TVMBackendParallelLaunch(run: Lambda, data: *mut c_void, tasks: c_int) -> c_int;
    }

    pub fn launch<F: Fn(usize, usize) -> Result<()> + Sync>(run: &F) -> Result<()> {
        let data = core::ptr::from_ref(run).cast_mut().cast();
        // SAFETY: `run` outlives the call, which returns after every task, and is `Sync`.
        match unsafe { TVMBackendParallelLaunch(task::<F>, data, 0) } {
            0 => Ok(()),
            _ => Err(Raised::by_program()),
        }
    }

    unsafe extern "C" fn task<F: Fn(usize, usize) -> Result<()> + Sync>(
        task: c_int,
        group: *mut ParallelGroupEnv,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: `launch` gave `data`; the pool gives the environment of the task.
        let (run, tasks) = unsafe { (&*data.cast::<F>(), (*group).num_task) };
        match run(task as usize, tasks as usize) {
            Ok(()) => 0,
            Err(_) => -1,
        }
    }
}
