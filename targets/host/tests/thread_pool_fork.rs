//! Tests that a forked child starts with an empty thread pool. A program of its own, so that it
//! forks before other tests start threads.
#![cfg(unix)]

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use core::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use ferrite_core::call::backend::{ParallelGroupEnv, parallel_barrier, parallel_launch};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

unsafe extern "C" fn count(task_id: c_int, env: *mut ParallelGroupEnv, data: *mut c_void) -> c_int {
    // SAFETY: `launch` passes a counter; the environment belongs to this task.
    unsafe {
        (*data.cast::<AtomicI32>()).fetch_add(1, Ordering::Relaxed);
        if parallel_barrier(task_id, env).is_ok() { 0 } else { -1 }
    }
}

/// Launches three tasks that meet at a barrier; returns how many ran.
fn launch() -> i32 {
    let mut counter = AtomicI32::new(0);
    // SAFETY: `count` accepts the counter on several threads.
    match unsafe { parallel_launch(count, (&raw mut counter).cast(), 3) } {
        Ok(()) => counter.into_inner(),
        Err(_) => -1,
    }
}

/// Runs `child` in a forked process, and returns its exit status. A child that hangs is ended by
/// its watchdog.
fn in_child(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only launches and exits, which the pool allows whatever other threads are
    // doing.
    unsafe {
        let process = fork();
        assert!(process >= 0);
        if process == 0 {
            watchdog::watchdog(60);
            _exit(child());
        }
        let mut status = 0;
        assert_eq!(waitpid(process, &mut status, 0), process);
        status
    }
}

/// Forks in the first of three tasks. The child must be able to launch. Its copy of the launch ends
/// with an error or, if all other tasks had ended, without one.
unsafe extern "C" fn fork_in_task(
    task_id: c_int,
    env: *mut ParallelGroupEnv,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the test passes a counter; the environment belongs to this task.
    unsafe {
        if parallel_barrier(task_id, env).is_err() {
            return -1;
        }
        if task_id == 0 {
            let child = fork();
            (*data.cast::<AtomicI32>()).store(child, Ordering::Relaxed);
            if child == 0 {
                watchdog::watchdog(60);
            }
        }
        0
    }
}

fn child_of_task() {
    let mut process = AtomicI32::new(-1);
    // SAFETY: `fork_in_task` accepts the counter.
    let outcome = unsafe { parallel_launch(fork_in_task, (&raw mut process).cast(), 3) };
    let process = process.into_inner();
    if process == 0 {
        let is_expected =
            outcome.is_ok() || outcome.is_err_and(|error| error.kind_bytes() == b"RuntimeError");
        // SAFETY: the child exits.
        unsafe { _exit(if is_expected { launch() } else { 0 }) };
    }
    assert!(outcome.is_ok());
    let mut status = 0;
    // SAFETY: the process is a child of this one.
    assert_eq!(unsafe { waitpid(process, &mut status, 0) }, process);
    assert_eq!(status, 3 << 8, "exit status {status:#x}");
}

#[test]
#[cfg_attr(miri, ignore = "forks")]
fn a_child_makes_threads_of_its_own() {
    ferrite_host::thread_pool::install();
    ferrite_host::forks::install();
    assert_eq!(launch(), 3);
    assert_eq!(in_child(launch), 3 << 8);
    assert_eq!(launch(), 3);

    // While other threads launch tasks.
    let ends = AtomicI32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while ends.load(Ordering::Relaxed) == 0 {
                    assert_eq!(launch(), 3);
                }
            });
        }
        for _ in 0..100 {
            // A child of a child, too.
            let status = in_child(|| if launch() == 3 { in_child(launch) >> 8 } else { -1 });
            assert_eq!(status, 3 << 8, "exit status {status:#x}");
        }
        ends.store(1, Ordering::Relaxed);
    });

    for _ in 0..20 {
        child_of_task();
    }
    assert_eq!(launch(), 3);
}
