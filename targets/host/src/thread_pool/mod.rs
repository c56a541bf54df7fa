//! Parallel launcher for hosts: runs parallel loops on a thread pool that grows on demand.
//!
//! | file | content |
//! |---|---|
//! | `thread_pool/launch.rs` | one launch: its tasks and its first error |
//! | `thread_pool/task_group.rs` | the barrier and the join of a launch, in one atomic word |
//! | `thread_pool/worker.rs` | the worker threads |
//! | `thread_pool/mailbox.rs` | the slot through which a worker receives tasks |
//! | `thread_pool/idle.rs` | lock-free stack of idle workers |
//! | `thread_pool/backoff.rs` | launches on fewer threads while other work delays workers |
//! | `thread_pool/spin.rs` | spinning and yielding before a thread sleeps |
//! | `thread_pool/futex/` | sleeping until an atomic word changes |
//! | `thread_pool/placement.rs` | moving workers off the launching thread's processor |
//! | `thread_pool/settings.rs` | environment variables |
//! | `thread_pool/configure.rs`, `affinity.rs` | `runtime.config_threadpool` and `runtime.NumThreads`; processor affinity |
//! | `thread_pool/caller.rs` | state of the launching thread |
//! | `thread_pool/process.rs` | detection of forks |
//! | `thread_pool/detached/` | start of a detached thread |
//! | `thread_pool/system/` | processors and threads of the operating system |
//!
//! Threads are created by the first launch that needs them. A launch reserves a worker for every
//! task but the first, which runs on the calling thread. So all tasks of a launch can run
//! concurrently and wait for each other at barriers, and launches from different threads do not
//! wait for each other. When the first task has ended, the calling thread also runs the tasks that
//! no worker has begun. Workers are kept for later launches; the process ends without waiting for
//! them. A nested launch runs as one task. While other work delays the workers, launches with an
//! open number of tasks use fewer of them (`backoff.rs`).
//!
//! A launch takes no lock: workers are reserved from a lock-free stack, tasks are passed through
//! one atomic word per worker, and joined through one atomic word per launch. Waiting threads stay
//! awake for a while, then sleep (`spin.rs`).
//!
//! After `fork`, the child starts with an empty pool, whatever the other threads of the parent were
//! doing. In the child, a launch in progress on the forking thread fails with an error.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::call::backend::launcher::{self, Launcher, ParallelGroupEnv, ParallelLambda};
use ferrite_core::call::backend::parallel;
use ferrite_core::ensure;
use ferrite_core::error::Result;
use ferrite_core::platform::sync::fork::Hook;

mod affinity;
mod backoff;
mod caller;
mod configure;
mod detached;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "futex/linux.rs"]
mod futex;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "futex/other.rs"]
mod futex;
mod idle;
mod launch;
mod mailbox;
mod placement;
mod process;
mod settings;
mod spin;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "system/linux.rs"]
mod system;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "system/other.rs"]
mod system;
mod task_group;
mod worker;

pub(crate) use affinity::AFFINITY;
pub use configure::FUNCTIONS;
use launch::Launch;
pub use settings::{MAX_TASKS, max_concurrency};
use worker::Team;

/// Installs the thread pool as the launcher of parallel loops, which then run on several threads.
///
/// # Threads
/// May be called from any thread. Takes one atomic store. Later calls have no effect.
pub fn install() {
    // SAFETY: the functions of this module launch and wait.
    unsafe { parallel::install_launcher(&LAUNCHER) };
}

static LAUNCHER: Launcher = Launcher { launch, barrier };

/// Fork handler that empties the pool in the child.
pub(crate) static WORKERS_AT_FORK: Hook = Hook::in_child(|| {
    process::forked();
    worker::forget();
});

/// Runs a launch of `num_task` tasks, or of the default number of tasks if it is 0.
///
/// # Safety
///
/// Same requirements as [`Launcher::launch`].
unsafe fn launch(lambda: ParallelLambda, data: *mut c_void, num_task: i32) -> Result<()> {
    let asked = usize::try_from(num_task).unwrap_or(0);
    ensure!(asked <= MAX_TASKS, RuntimeError, "cannot run {asked} tasks at once, only {MAX_TASKS}");
    let wanted = if asked == 0 { caller::num_tasks() } else { asked };
    if wanted == 1 || caller::is_in_task() {
        // SAFETY: the caller guarantees `lambda` and `data`.
        return unsafe { run_single(lambda, data) };
    }
    // SAFETY: as the caller guarantees.
    unsafe { launch_team(lambda, data, asked, wanted) }
}

/// Runs a launch of `asked` tasks, or of up to `wanted` tasks if `asked` is 0. Not inlined, so that
/// a launch of one task saves no registers for it.
///
/// # Safety
/// Same requirements as [`Launcher::launch`].
#[inline(never)]
unsafe fn launch_team(
    lambda: ParallelLambda,
    data: *mut c_void,
    asked: usize,
    wanted: usize,
) -> Result<()> {
    let team = Team::reserve(wanted - 1);
    let tasks = team.len() + 1;
    ensure!(
        asked <= tasks,
        RuntimeError,
        "cannot run {asked} tasks at once, only {tasks} threads are left"
    );
    if tasks == 1 {
        // SAFETY: the caller guarantees `lambda` and `data`.
        return unsafe { run_single(lambda, data) };
    }
    // SAFETY: the caller guarantees `lambda` and `data` until this function returns, which is after
    // the last task.
    let launch = unsafe { Launch::new(team, lambda, data) };
    // A program that asks for a number of tasks may have them wait for each other without barriers.
    let workers = if asked == 0 { backoff::usable(tasks - 1) } else { tasks - 1 };
    caller::in_task(|| launch.run(workers))
}

/// Runs the function of a launch as a single task on this thread.
///
/// # Safety
/// `lambda` must accept `data`.
unsafe fn run_single(lambda: ParallelLambda, data: *mut c_void) -> Result<()> {
    let mut env = ParallelGroupEnv { sync_handle: ptr::null_mut(), num_task: 1 };
    // SAFETY: the caller guarantees `lambda` and `data`.
    caller::in_task(|| unsafe { launcher::run_task(lambda, 0, &raw mut env, data) })
}

/// Waits until all tasks of a launch have reached the barrier.
///
/// # Safety
///
/// Same requirements as [`Launcher::barrier`].
unsafe fn barrier(env: *mut ParallelGroupEnv) -> Result<()> {
    // SAFETY: several tasks share `env`, so a launch of this module created it and lives until the
    // calling task ends.
    let launch = unsafe { &*(*env).sync_handle.cast::<Launch>() };
    launch.barrier()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_int;
    use ferrite_core::error;
    use ferrite_core::error::{Error, raised_error};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::thread::{self, ThreadId};

    /// Body of a task as a closure: receives the task's number and environment.
    type Body<'a> = dyn Fn(i32, *mut ParallelGroupEnv) -> Result<()> + Sync + 'a;

    unsafe extern "C" fn call(
        task_id: c_int,
        env: *mut ParallelGroupEnv,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: `run` passes a closure that lives as long as the launch.
        let body = unsafe { &**data.cast::<&Body<'_>>() };
        match body(task_id, env) {
            Ok(()) => 0,
            Err(error) => {
                raised_error::set(error);
                -1
            }
        }
    }

    fn run(num_task: i32, body: &Body<'_>) -> Result<()> {
        let mut data: &Body<'_> = body;
        // SAFETY: `call` accepts the closure, which is `Sync`.
        unsafe { launch(call, (&raw mut data).cast(), num_task) }
    }

    /// Runs tasks that are given to some workers only, as while the calling thread backs off.
    fn run_on(workers: usize, num_task: usize, body: &Body<'_>) -> Result<()> {
        let mut data: &Body<'_> = body;
        // SAFETY: `call` accepts the closure, which is `Sync` and outlives the launch.
        let launch =
            unsafe { Launch::new(Team::reserve(num_task - 1), call, (&raw mut data).cast()) };
        caller::in_task(|| launch.run(workers))
    }

    fn tasks(env: *mut ParallelGroupEnv) -> i32 {
        // SAFETY: launches pass a live environment.
        unsafe { (*env).num_task }
    }

    fn meet(env: *mut ParallelGroupEnv) -> Result<()> {
        // SAFETY: a launch of several tasks passes its own environment.
        unsafe { barrier(env) }
    }

    fn message(error: &Error) -> String {
        String::from_utf8_lossy(error.message_bytes()).into_owned()
    }

    #[test]
    fn tasks_that_meet_run_once_each_on_threads_of_their_own() {
        for num_task in [2, 7, 16] {
            let seen: Mutex<Vec<(i32, ThreadId)>> = Mutex::new(Vec::new());
            run(num_task, &|task, env| {
                assert_eq!(tasks(env), num_task);
                // Tasks that meet at a barrier all run concurrently.
                meet(env)?;
                seen.lock().unwrap().push((task, thread::current().id()));
                Ok(())
            })
            .unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort_by_key(|(task, _)| *task);
            assert!(seen.iter().map(|(task, _)| *task).eq(0..num_task));
            assert_eq!(seen[0].1, thread::current().id());
            let threads: std::collections::HashSet<_> =
                seen.iter().map(|(_, thread)| *thread).collect();
            assert_eq!(threads.len(), seen.len());
        }
    }

    #[test]
    fn tasks_without_workers_run_in_order_on_the_calling_thread() {
        let (here, seen) = (thread::current().id(), Mutex::new(Vec::new()));
        run_on(0, 7, &|task, env| {
            assert_eq!((tasks(env), thread::current().id()), (7, here));
            seen.lock().unwrap().push(task);
            Ok(())
        })
        .unwrap();
        assert!(seen.into_inner().unwrap().into_iter().eq(0..7));
    }

    #[test]
    fn tasks_meet_at_barriers_even_if_workers_are_left_out_at_first() {
        for workers in 0..4 {
            let count = AtomicI32::new(0);
            run_on(workers, 5, &|_, env| {
                count.fetch_add(1, Ordering::Relaxed);
                meet(env)?;
                assert_eq!(count.load(Ordering::Relaxed), 5);
                meet(env)
            })
            .unwrap();
        }
    }

    #[test]
    fn each_task_runs_once_on_fewer_workers_than_tasks() {
        for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
            let seen = [const { AtomicI32::new(0) }; 9];
            run_on(3, 9, &|task, _| {
                seen[task as usize].fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
            assert!(seen.into_iter().all(|count| count.into_inner() == 1));
        }
    }

    #[test]
    fn tasks_that_their_workers_have_not_begun_run_on_the_calling_thread() {
        let here = thread::current().id();
        let (mut here_at_last, started) = (0, AtomicI32::new(0));
        for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
            let foreign = AtomicI32::new(0);
            run(3, &|_, _| {
                started.fetch_add(1, Ordering::Relaxed);
                foreign.fetch_add(i32::from(thread::current().id() != here), Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
            here_at_last += i32::from(foreign.into_inner() < 2);
        }
        assert_eq!(started.into_inner(), if cfg!(miri) { 60 } else { 6000 });
        assert!(here_at_last > 0);
    }

    #[test]
    fn a_task_of_another_thread_leaves_the_callers_raised_error() {
        for _ in 0..if cfg!(miri) { 5 } else { 200 } {
            raised_error::set(error!(KeyError, "mine"));
            run(3, &|task, _| {
                if task != 0 {
                    raised_error::set(error!(ValueError, "left behind"));
                }
                Ok(())
            })
            .unwrap();
            assert_eq!(message(&raised_error::take().unwrap()), "mine");
        }
    }

    #[test]
    fn an_open_number_of_tasks_is_the_number_of_workers() {
        let count = AtomicI32::new(0);
        run(0, &|_, env| {
            assert_eq!(tasks(env) as usize, max_concurrency());
            count.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert_eq!(count.into_inner() as usize, max_concurrency());
    }

    #[test]
    fn tasks_meet_at_barriers() {
        let rounds = if cfg!(miri) { 3 } else { 200 };
        let count = AtomicI32::new(0);
        run(5, &|_, env| {
            for round in 1..=rounds {
                count.fetch_add(1, Ordering::Relaxed);
                meet(env)?;
                assert_eq!(count.load(Ordering::Relaxed), 5 * round);
                meet(env)?;
            }
            Ok(())
        })
        .unwrap();
    }

    #[test]
    fn the_first_error_comes_back_and_frees_those_who_wait() {
        let error = run(4, &|task, env| {
            if task == 2 {
                return Err(error!(KeyError, "task two"));
            }
            let error = meet(env).unwrap_err();
            assert_eq!(error.kind_bytes(), b"RuntimeError");
            Err(error)
        })
        .unwrap_err();
        assert_eq!((error.kind_bytes(), message(&error).as_str()), (&b"KeyError"[..], "task two"));
        assert!(raised_error::take().is_none());
    }

    #[test]
    fn a_barrier_of_some_tasks_only_is_an_error() {
        let error = run(3, &|task, env| if task == 0 { Ok(()) } else { meet(env) }).unwrap_err();
        assert!(message(&error).contains("barrier"));
    }

    #[test]
    fn nested_launches_are_one_task_on_the_same_thread() {
        run(3, &|_, _| {
            let thread = thread::current().id();
            run(8, &|task, env| {
                assert_eq!((task, tasks(env), thread::current().id()), (0, 1, thread));
                Ok(())
            })
        })
        .unwrap();
    }

    #[test]
    fn launches_of_several_threads_do_not_disturb_each_other() {
        let rounds = if cfg!(miri) { 2 } else { 100 };
        thread::scope(|scope| {
            for caller in 0..4 {
                scope.spawn(move || {
                    for _ in 0..rounds {
                        let sum = AtomicI32::new(0);
                        run(3, &|task, env| {
                            sum.fetch_add(task + caller, Ordering::Relaxed);
                            meet(env)
                        })
                        .unwrap();
                        assert_eq!(sum.into_inner(), 3 + 3 * caller);
                    }
                });
            }
        });
    }

    #[test]
    fn too_many_tasks_are_refused() {
        let error = run(i32::MAX, &|_, _| Ok(())).unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
    }

    #[test]
    fn a_task_that_leaves_an_error_behind_does_not_fail_a_later_one() {
        run(2, &|_, _| {
            raised_error::set(error!(KeyError, "left behind"));
            Ok(())
        })
        .unwrap();
        drop(raised_error::take());
        run(2, &|_, _| {
            assert!(raised_error::take().is_none());
            Ok(())
        })
        .unwrap();
    }
}
