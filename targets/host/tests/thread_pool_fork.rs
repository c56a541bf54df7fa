//! A forked child starts with an empty thread pool. In a program of its own: the test forks before other tests have threads.
#![cfg(unix)]

use core::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use ferrite_core::backend::{ParallelGroupEnv, parallel_barrier, parallel_launch};

unsafe extern "C" {
    fn fork() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

unsafe extern "C" fn count(task_id: c_int, env: *mut ParallelGroupEnv, data: *mut c_void) -> c_int {
    // SAFETY: `launch` passes a counter; the environment is this task's.
    unsafe {
        (*data.cast::<AtomicI32>()).fetch_add(1, Ordering::Relaxed);
        if parallel_barrier(task_id, env).is_ok() { 0 } else { -1 }
    }
}

/// Launches three tasks that meet; tells how many ran.
fn launch() -> i32 {
    let mut counter = AtomicI32::new(0);
    // SAFETY: `count` accepts the counter on several threads.
    match unsafe { parallel_launch(count, (&raw mut counter).cast(), 3) } {
        Ok(()) => counter.into_inner(),
        Err(_) => -1,
    }
}

#[test]
#[cfg_attr(miri, ignore = "forks")]
fn a_child_makes_threads_of_its_own() {
    ferrite_host::thread_pool::install();
    assert_eq!(launch(), 3);
    // SAFETY: the child only launches and exits; no other thread holds a lock that it needs.
    let status = unsafe {
        let child = fork();
        if child == 0 {
            _exit(launch());
        }
        let mut status = 0;
        assert_eq!(waitpid(child, &mut status, 0), child);
        status
    };
    assert_eq!(status, 3 << 8, "exit status {status:#x}");
    assert_eq!(launch(), 3);
}
