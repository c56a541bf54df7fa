//! One launch: its tasks, its barrier and its first error.

use core::ffi::c_void;
use core::ptr;
use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ferrite_core::backend::parallel::{self, ParallelGroupEnv, ParallelLambda};
use ferrite_core::error::{Error, Result};
use ferrite_core::{ensure, raised};

use super::waiter::{SPIN_ROUNDS, Waiter};

/// A launch under way, on the stack of the thread that launched.
pub(super) struct Launch {
    lambda: ParallelLambda,
    data: *mut c_void,
    tasks: usize,
    /// Tasks that are not done.
    left: AtomicUsize,
    /// How often all tasks have met.
    meetings: AtomicUsize,
    state: Mutex<State>,
    /// Wakes tasks that wait at the barrier.
    met: Condvar,
    /// Where the launching thread waits for the last task.
    launcher: &'static Waiter,
}

struct State {
    /// Tasks that wait at the barrier.
    waiting: usize,
    /// Tasks that are done and will come to no barrier any more.
    ended: usize,
    first_error: Option<Error>,
}

// SAFETY: `lambda` and `data` are for use by several threads at once (contract of `Launch::new`); the rest is
// atomic or behind the mutex.
unsafe impl Sync for Launch {}

impl Launch {
    /// A launch of `tasks` tasks, each of which must be [run](Launch::run) once.
    ///
    /// # Safety
    /// `lambda` must accept `data` on several threads at once, as long as the launch lives.
    pub(super) unsafe fn new(
        lambda: ParallelLambda,
        data: *mut c_void,
        tasks: usize,
        launcher: &'static Waiter,
    ) -> Launch {
        Launch {
            lambda,
            data,
            tasks,
            left: AtomicUsize::new(tasks),
            meetings: AtomicUsize::new(0),
            state: Mutex::new(State { waiting: 0, ended: 0, first_error: None }),
            met: Condvar::new(),
            launcher,
        }
    }

    /// Runs one task. The launch may be gone when this returns, unless the caller is the launching thread.
    ///
    /// # Safety
    /// `this` must be a launch that lives until its last task is done, and `task` one of its tasks, not run
    /// before.
    pub(super) unsafe fn run(this: *const Launch, task: usize) {
        // SAFETY: the caller vouches for the launch, which lives until `end` has counted this task, and no
        // reference to it lives longer.
        unsafe {
            let outcome = (*this).call(task);
            (*this).record(outcome);
            Launch::end(this);
        }
    }

    fn call(&self, task: usize) -> Result<()> {
        // Tasks get an environment each, so that none sees what another one writes there.
        let mut env = ParallelGroupEnv {
            sync_handle: ptr::from_ref(self).cast_mut().cast(),
            num_task: i32::try_from(self.tasks).unwrap_or(i32::MAX),
        };
        let task_id = i32::try_from(task).unwrap_or(i32::MAX);
        // SAFETY: the launch's maker vouches for `lambda` and `data`.
        let outcome = unsafe { parallel::run_task(self.lambda, task_id, &raw mut env, self.data) };
        if task != 0 {
            // What a task raised without failing must not be taken for the error of a later one on this
            // thread.
            drop(raised::take());
        }
        outcome
    }

    fn record(&self, outcome: Result<()>) {
        let mut error = outcome.err();
        let mut state = self.lock();
        state.ended += 1;
        if state.first_error.is_none() {
            state.first_error = error.take();
        }
        if state.waiting > 0 {
            self.met.notify_all();
        }
        // A later error dies without the lock: what it holds may have deleters of the user.
        drop(state);
        drop(error);
    }

    /// Counts a task as done, and wakes the launching thread when it was the last.
    ///
    /// # Safety
    /// As [`Launch::run`].
    unsafe fn end(this: *const Launch) {
        // SAFETY: the launch lives until the subtraction.
        unsafe {
            let launcher = (*this).launcher;
            if (*this).left.fetch_sub(1, Ordering::AcqRel) == 1 {
                launcher.wake();
            }
        }
    }

    /// Waits until all tasks are done. Only for the launching thread.
    pub(super) fn wait(&self) {
        self.launcher.wait_until(|| self.left.load(Ordering::Acquire) == 0);
    }

    /// Waits until all tasks are here.
    ///
    /// # Errors
    /// RuntimeError when a task ended, so that not all can come.
    pub(super) fn meet(&self) -> Result<()> {
        // The error is made without the lock: its memory may come from an allocator of the user.
        ensure!(self.all_came(), RUNTIME_ERROR, "a parallel task ended while others wait at a barrier");
        Ok(())
    }

    /// Waits until all tasks are here; false when a task ended, so that not all can come.
    fn all_came(&self) -> bool {
        let mut state = self.lock();
        if state.ended > 0 {
            return false;
        }
        let meeting = self.meetings.load(Ordering::Relaxed);
        state.waiting += 1;
        if state.waiting == self.tasks {
            state.waiting = 0;
            self.meetings.store(meeting.wrapping_add(1), Ordering::Release);
            self.met.notify_all();
            return true;
        }
        drop(state);
        for _ in 0..SPIN_ROUNDS {
            if self.meetings.load(Ordering::Acquire) != meeting {
                return true;
            }
            hint::spin_loop();
        }
        self.sleep_until_met(meeting)
    }

    fn sleep_until_met(&self, meeting: usize) -> bool {
        let mut state = self.lock();
        while self.meetings.load(Ordering::Acquire) == meeting {
            if state.ended > 0 {
                state.waiting -= 1;
                return false;
            }
            state = self.met.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    /// The error of the task that failed first, if any.
    pub(super) fn into_result(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.first_error.map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics under the lock; and if so, the counts are still right.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
