//! The launcher of hosts: parallel loops on a pool of threads that grows on demand.
//!
//! | file | holds |
//! |---|---|
//! | `thread_pool/workers.rs` | the threads, and the list of those that wait for work |
//! | `thread_pool/launch.rs` | one launch: its tasks, its barrier and its first error |
//! | `thread_pool/detached.rs` | how a thread is started |
//! | `thread_pool/waiter.rs` | where a thread waits for another one |
//! | `thread_pool/system/` | the number of processors, and names of threads |
//!
//! No thread exists before the first launch that needs one. A launch reserves a thread for every task but the
//! first, which runs on the caller's thread; so all tasks of a launch run at once and can meet at barriers,
//! and launches of different threads do not wait for each other. Threads are kept for later launches, and end
//! with the process, which does not wait for them. A launch from within a task runs as one task.
//!
//! After `fork`, a child process starts with an empty pool.

use core::ffi::{CStr, c_void};
use core::ptr;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use ferrite_core::backend::parallel::{self, Launcher, ParallelGroupEnv, ParallelLambda};
use ferrite_core::error::Result;
use ferrite_core::{bail, ensure};

mod detached;
mod launch;
#[cfg(any(target_os = "linux", target_os = "android"))]
#[path = "thread_pool/system/linux.rs"]
mod system;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[path = "thread_pool/system/other.rs"]
mod system;
mod waiter;
mod workers;

use launch::Launch;
pub(crate) use workers::POOL;

/// Makes parallel loops run on threads.
///
/// # Threads
/// One atomic store; calling it again changes nothing.
pub fn install() {
    parallel::install_launcher(&LAUNCHER);
}

static LAUNCHER: Launcher = Launcher { launch, barrier };

/// The most tasks that one launch may have, and the most threads that the pool may have.
pub const MAX_TASKS: usize = 1024;

thread_local! {
    /// Whether this thread runs a task, so that launches from here are nested.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };
}

/// The number of tasks of a launch that leaves it open: `TVM_NUM_THREADS`, else `OMP_NUM_THREADS`, else what
/// the processor and the limits of the process allow. At least 1, at most [`MAX_TASKS`]; read once.
///
/// # Upstream
/// `MaxConcurrency` of `src/runtime/threading_backend.cc`, which takes half of the processors on x86.
pub fn max_concurrency() -> usize {
    // Threads that come at the same time find the same: no lock, which a fork could leave held.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let known = COUNT.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let asked = [c"TVM_NUM_THREADS", c"OMP_NUM_THREADS"].into_iter().find_map(threads_from_env);
    let count = asked.or_else(system::processors).unwrap_or(1).clamp(1, MAX_TASKS);
    COUNT.store(count, Ordering::Relaxed);
    count
}

/// A positive number from the environment; of a list such as `4,2` the first.
fn threads_from_env(name: &CStr) -> Option<usize> {
    // Not by std, which copies the text with an allocator that ends the process when memory is refused.
    // SAFETY: the name ends in a NUL. As for all of C, changing the environment meanwhile is the program's mistake.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: environment texts end in a NUL.
    let value = unsafe { CStr::from_ptr(value) }.to_str().ok()?;
    let first = value.split(',').next()?.trim().parse().ok()?;
    (first > 0).then_some(first)
}

/// # Safety
/// As [`Launcher::launch`].
unsafe fn launch(lambda: ParallelLambda, data: *mut c_void, num_task: i32) -> Result<()> {
    let asked = usize::try_from(num_task).unwrap_or(0);
    ensure!(asked <= MAX_TASKS, RUNTIME_ERROR, "cannot run {asked} tasks at once, only {MAX_TASKS}");
    let wanted = if asked == 0 { max_concurrency() } else { asked };
    if wanted == 1 || IN_TASK.get() {
        // SAFETY: the caller vouches for `lambda` and `data`.
        return unsafe { run_alone(lambda, data) };
    }
    let team = workers::reserve(wanted - 1);
    let tasks = team.len() + 1;
    if asked > tasks {
        workers::hand_back(team);
        bail!(RUNTIME_ERROR, "cannot run {asked} tasks at once, only {tasks} threads are left");
    }
    let Some(first) = team.iter().next() else {
        // SAFETY: the caller vouches for `lambda` and `data`.
        return unsafe { run_alone(lambda, data) };
    };
    // SAFETY: the caller vouches for `lambda` and `data` until this function returns, which is after the last
    // task.
    let launch = unsafe { Launch::new(lambda, data, tasks, first.launcher()) };
    for (index, worker) in team.iter().enumerate() {
        // SAFETY: the launch outlives its tasks: `wait` returns after the last of them.
        unsafe { worker.start(&launch, index + 1) };
    }
    // SAFETY: the launch is alive, and task 0 is run here only.
    in_task(|| unsafe { Launch::run(&launch, 0) });
    launch.wait();
    workers::hand_back(team);
    launch.into_result()
}

/// Runs the launch as one task on this thread.
///
/// # Safety
/// `lambda` must accept `data`.
unsafe fn run_alone(lambda: ParallelLambda, data: *mut c_void) -> Result<()> {
    let mut env = ParallelGroupEnv { sync_handle: ptr::null_mut(), num_task: 1 };
    // SAFETY: the caller vouches for `lambda` and `data`.
    in_task(|| unsafe { parallel::run_task(lambda, 0, &raw mut env, data) })
}

/// Runs `body` as (part of) a task, so that launches within are nested.
fn in_task<R>(body: impl FnOnce() -> R) -> R {
    let before = IN_TASK.replace(true);
    let result = body();
    IN_TASK.set(before);
    result
}

/// # Safety
/// As [`Launcher::barrier`].
unsafe fn barrier(env: *mut ParallelGroupEnv) -> Result<()> {
    // SAFETY: several tasks share `env`, so a launch of this file made it and lives until the calling task
    // ends.
    let launch = unsafe { &*(*env).sync_handle.cast::<Launch>() };
    launch.meet()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::c_int;
    use ferrite_core::error::Error;
    use ferrite_core::{error, raised};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicI32, Ordering};
    use std::thread::{self, ThreadId};

    /// A task as a closure: gets its number and its environment.
    type Body<'a> = dyn Fn(i32, *mut ParallelGroupEnv) -> Result<()> + Sync + 'a;

    unsafe extern "C" fn call(task_id: c_int, env: *mut ParallelGroupEnv, data: *mut c_void) -> c_int {
        // SAFETY: `run` passes a closure that lives as long as the launch.
        let body = unsafe { &**data.cast::<&Body<'_>>() };
        match body(task_id, env) {
            Ok(()) => 0,
            Err(error) => {
                raised::set(error);
                -1
            }
        }
    }

    fn run(num_task: i32, body: &Body<'_>) -> Result<()> {
        let mut data: &Body<'_> = body;
        // SAFETY: `call` accepts the closure, which may be called by several threads.
        unsafe { launch(call, (&raw mut data).cast(), num_task) }
    }

    fn tasks(env: *mut ParallelGroupEnv) -> i32 {
        // SAFETY: launches pass a live environment.
        unsafe { (*env).num_task }
    }

    fn meet(env: *mut ParallelGroupEnv) -> Result<()> {
        // SAFETY: launches of several tasks pass an environment of theirs.
        unsafe { barrier(env) }
    }

    fn message(error: &Error) -> String {
        String::from_utf8_lossy(error.message()).into_owned()
    }

    #[test]
    fn every_task_runs_once_on_a_thread_of_its_own() {
        for num_task in [2, 7, 16] {
            let seen: Mutex<Vec<(i32, ThreadId)>> = Mutex::new(Vec::new());
            run(num_task, &|task, env| {
                assert_eq!(tasks(env), num_task);
                seen.lock().unwrap().push((task, thread::current().id()));
                Ok(())
            })
            .unwrap();
            let mut seen = seen.into_inner().unwrap();
            seen.sort_by_key(|(task, _)| *task);
            assert!(seen.iter().map(|(task, _)| *task).eq(0..num_task));
            assert_eq!(seen[0].1, thread::current().id());
            let threads: std::collections::HashSet<_> = seen.iter().map(|(_, thread)| *thread).collect();
            assert_eq!(threads.len(), seen.len());
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
                return Err(error!(KEY_ERROR, "task two"));
            }
            let error = meet(env).unwrap_err();
            assert_eq!(error.kind(), b"RuntimeError");
            Err(error)
        })
        .unwrap_err();
        assert_eq!((error.kind(), message(&error).as_str()), (&b"KeyError"[..], "task two"));
        assert!(raised::take().is_none());
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
        assert_eq!(error.kind(), b"RuntimeError");
    }

    #[test]
    fn a_task_that_leaves_an_error_behind_does_not_fail_a_later_one() {
        run(2, &|_, _| {
            raised::set(error!(KEY_ERROR, "left behind"));
            Ok(())
        })
        .unwrap();
        drop(raised::take());
        run(2, &|_, _| {
            assert!(raised::take().is_none());
            Ok(())
        })
        .unwrap();
    }
}
