//! Parallel loops of functions compiled by TVM: launches and barriers, executed by the installed
//! launcher.

use core::ffi::c_void;
use core::ptr;

use crate::error::Result;
use crate::plain_ensure;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};

use super::launcher::{Launcher, ParallelGroupEnv, ParallelLambda};
use super::serial;

static LAUNCHER: AtomicPtr<Launcher> = AtomicPtr::new(ptr::null_mut());

/// Installs the launcher of parallel launches. Without one, a launch runs as one task on the
/// calling thread.
///
/// Install it before the first launch: a running launch must not reach a barrier of another
/// launcher.
///
/// # Safety
/// The functions must meet the contract of [`Launcher`]: compiled code expects that all its tasks
/// have run.
pub unsafe fn install_launcher(launcher: &'static Launcher) {
    LAUNCHER.store(ptr::from_ref(launcher).cast_mut(), Ordering::Release);
}

fn launcher() -> &'static Launcher {
    // SAFETY: only `install_launcher` stores here, and only static references.
    unsafe { LAUNCHER.load(Ordering::Acquire).as_ref() }.unwrap_or(&serial::LAUNCHER)
}

/// Runs `lambda` as `num_task` tasks and waits for them. 0 means one task per worker thread.
///
/// Tasks must read the number of tasks from their environment: nested launches, and all launches in
/// builds without threads, run as one task.
///
/// # Errors
/// The error of the first task that failed; ValueError if `num_task` is negative; RuntimeError if
/// that many tasks cannot run concurrently.
///
/// # Safety
/// `lambda` must accept `data` on several threads at once until the launch returns.
///
/// # Upstream
/// `TVMBackendParallelLaunch` of `src/runtime/thread_pool.cc`.
pub unsafe fn parallel_launch(
    lambda: ParallelLambda,
    data: *mut c_void,
    num_task: i32,
) -> Result<()> {
    plain_ensure!(num_task >= 0, VALUE_ERROR, "a parallel launch cannot have {} tasks", num_task);
    // SAFETY: the caller guarantees `lambda` and `data`.
    unsafe { (launcher().launch)(lambda, data, num_task) }
}

/// Waits until every task of the launch has reached the barrier.
///
/// # Errors
/// ValueError if `env` is null; RuntimeError if a task ended before it reached the barrier.
///
/// # Safety
/// `env` must be null or the environment of the calling task.
///
/// # Upstream
/// `TVMBackendParallelBarrier` of `src/runtime/thread_pool.cc`, which waits forever if a task ended
/// early.
pub unsafe fn parallel_barrier(_task_id: i32, env: *mut ParallelGroupEnv) -> Result<()> {
    plain_ensure!(!env.is_null(), VALUE_ERROR, "a barrier needs the environment of its task");
    // SAFETY: the environment is that of the calling task, which lives while the task runs.
    if unsafe { (*env).num_task } <= 1 {
        return Ok(());
    }
    // SAFETY: as above; with several tasks the installed launcher made it.
    unsafe { (launcher().barrier)(env) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::raised_error;
    use crate::plain_error;
    use core::ffi::c_int;
    use core::sync::atomic::AtomicI32;

    unsafe extern "C" fn count(
        task_id: c_int,
        env: *mut ParallelGroupEnv,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the tests pass a counter, and launchers a live environment.
        unsafe {
            assert_eq!(task_id, 0);
            assert!(parallel_barrier(task_id, env).is_ok());
            (*data.cast::<AtomicI32>()).fetch_add((*env).num_task, Ordering::Relaxed);
        }
        0
    }

    unsafe extern "C" fn fail(_: c_int, _: *mut ParallelGroupEnv, data: *mut c_void) -> c_int {
        if !data.is_null() {
            raised_error::set(plain_error!(KEY_ERROR, "no such key"));
        }
        -1
    }

    #[test]
    fn without_threads_a_launch_is_one_task() {
        let counter = AtomicI32::new(0);
        for num_task in [0, 1, 4] {
            // SAFETY: `count` accepts the counter.
            let outcome =
                unsafe { parallel_launch(count, (&raw const counter).cast_mut().cast(), num_task) };
            assert!(outcome.is_ok());
        }
        assert_eq!(counter.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn the_error_of_a_task_comes_back() {
        let mut data = 0u8;
        // SAFETY: `fail` accepts any pointer.
        let error = unsafe { parallel_launch(fail, (&raw mut data).cast(), 0) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"KeyError");
        // SAFETY: as above.
        let error = unsafe { parallel_launch(fail, ptr::null_mut(), 0) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
    }

    #[test]
    fn nonsense_is_refused() {
        // SAFETY: `fail` accepts any pointer.
        let error = unsafe { parallel_launch(fail, ptr::null_mut(), -1) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"ValueError");
        assert_eq!(
            // SAFETY: null is allowed.
            unsafe { parallel_barrier(0, ptr::null_mut()) }.unwrap_err().kind_bytes(),
            b"ValueError"
        );
    }
}
