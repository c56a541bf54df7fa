//! Execution of one launch: its workers, its tasks, its barrier and its first error.

use core::ffi::c_void;
use core::iter;
use core::ops::Range;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::call::backend::launcher::{self, ParallelGroupEnv, ParallelLambda};
use ferrite_core::error::{Error, Result, raised_error};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::{ensure, error};

use super::mailbox::Delivery;
use super::placement::Origin;
use super::task_group::{Forked, TaskGroup};
use super::worker::Team;
use super::{backoff, spin, system};

/// A launch in progress, on the stack of the launching thread. The fields that each task uses are
/// in one cache line.
#[repr(C, align(64))]
pub(super) struct Launch {
    group: TaskGroup,
    /// Number of the first task that no thread has been given yet.
    next: AtomicU32,
    origin: Origin,
    lambda: ParallelLambda,
    data: *mut c_void,
    /// Owned error of the task that failed first, or null.
    first_error: AtomicPtr<TVMFFIObject>,
    team: Team,
    /// Time of the launch.
    begin: Duration,
}

// SAFETY: `lambda` and `data` may be used by several threads at once (contract of `Launch::new`);
// `team`, `origin` and `begin` do not change; the rest is atomic.
unsafe impl Sync for Launch {}

impl Launch {
    /// Creates a launch of one task more than the team has workers.
    ///
    /// # Safety
    /// `lambda` must accept `data` on several threads at once while the launch lives.
    pub(super) unsafe fn new(team: Team, lambda: ParallelLambda, data: *mut c_void) -> Launch {
        let tasks = team.len() + 1;
        Launch {
            team,
            group: TaskGroup::new(tasks as u32),
            next: AtomicU32::new(1),
            origin: Origin::here(tasks),
            begin: system::coarse_time(),
            lambda,
            data,
            first_error: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Runs all tasks: the first one on this thread, the others on the first `workers` of the team.
    /// When the first task has ended, this thread also runs the tasks that no worker has begun.
    ///
    /// # Errors
    /// The error of the task that failed first; RuntimeError in a process that was forked during
    /// the launch.
    pub(super) fn run(self, workers: usize) -> Result<()> {
        let end = workers as u32 + 1;
        self.next.store(end, Ordering::Relaxed);
        let had_to_wake = self.deliver(1..end);
        // SAFETY: the launch lives until the last task has ended, and each task is run once, by the
        // thread that took it.
        let taken_back = unsafe {
            Launch::run_task(Delivery { launch: &raw const self, task: 0 });
            self.run_unclaimed()
        };
        if end > 1 {
            backoff::note_workers(had_to_wake && taken_back == end - 1);
        }
        self.join()
    }

    /// Gives tasks to their workers. Returns `true` if a worker slept.
    fn deliver(&self, tasks: Range<u32>) -> bool {
        let workers = self.team.workers().zip(1..tasks.end).skip(tasks.start as usize - 1);
        workers.fold(false, |slept, (worker, task)| worker.mailbox().put(self, task) || slept)
    }

    /// Gives all tasks that no thread has been given yet to their workers.
    #[cold]
    fn deliver_rest(&self) {
        let tasks = self.group.tasks();
        self.deliver(self.next.swap(tasks, Ordering::Relaxed)..tasks);
    }

    /// Takes a task that no thread has been given yet.
    fn take(&self) -> Option<u32> {
        let tasks = self.group.tasks();
        let next = |next| (next < tasks).then_some(next + 1);
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
    }

    /// Runs the tasks that no worker has begun. Returns how many of them were taken back from
    /// workers.
    ///
    /// # Safety
    /// Must be called by the launching thread, after the first task.
    unsafe fn run_unclaimed(&self) -> u32 {
        let mut taken_back = 0;
        let received = self.team.workers().filter_map(|worker| {
            let delivery = worker.mailbox().take()?;
            taken_back += 1;
            self.origin.send_away(worker.thread(), |processor| worker.may_be_on(processor));
            Some(delivery.task)
        });
        let mut unclaimed = iter::from_fn(|| self.take()).chain(received).peekable();
        if unclaimed.peek().is_none() {
            return 0;
        }
        // Tasks drop the raised error that they leave behind, but this one belongs to the caller or
        // to the first task.
        let raised_before = raised_error::take();
        for task in unclaimed {
            // SAFETY: the launch lives, and no other thread has the task.
            unsafe { Launch::run_task(Delivery { launch: self, task }) };
        }
        if let Some(error) = raised_before {
            raised_error::set_again(error);
        }
        taken_back
    }

    /// Waits until all tasks have ended. Must be called by the launching thread, after the tasks
    /// that it runs.
    fn join(&self) -> Result<()> {
        let joined = match spin::briefly(|| self.group.has_ended().then_some(())) {
            Some(()) => Ok(()),
            None => self.wait_for_workers(),
        };
        let outcome = self.take_error().map_or(Ok(()), Err);
        joined.map_err(forked)?;
        outcome
    }

    #[cold]
    fn wait_for_workers(&self) -> Result<(), Forked> {
        let own = system::coarse_time().saturating_sub(self.begin);
        let start = Instant::now();
        let joined = self.group.join();
        backoff::note_wait(own, start.elapsed());
        joined
    }

    /// Runs a task on a worker, then tasks that no thread has been given yet. On return, the launch
    /// may be destroyed.
    ///
    /// # Safety
    /// Same requirements as [`Launch::run_task`].
    pub(super) unsafe fn run_on_worker(delivery: Delivery<Launch>) {
        let launch = delivery.launch;
        let mut task = Some(delivery.task);
        // SAFETY: the caller's promise; the launch lives until a task that this thread has taken
        // has ended.
        unsafe {
            (*launch).origin.leave();
            while let Some(number) = task {
                (*launch).call(number);
                task = (*launch).take();
                TaskGroup::end_task(&raw const (*launch).group);
            }
        }
    }

    /// Runs one task. On return, the launch may be destroyed, unless the caller is the launching
    /// thread.
    ///
    /// # Safety
    /// The launch must live until its last task has ended, and no other thread may run this task.
    unsafe fn run_task(delivery: Delivery<Launch>) {
        let Delivery { launch, task } = delivery;
        // SAFETY: the caller guarantees the launch, which lives until this task has ended; no
        // reference to it lives longer.
        unsafe {
            (*launch).call(task);
            TaskGroup::end_task(&raw const (*launch).group);
        }
    }

    /// Calls the function of the launch, and records its error.
    fn call(&self, task: u32) {
        // Each task gets an environment of its own, so that none sees the writes of another.
        let mut env = ParallelGroupEnv {
            sync_handle: ptr::from_ref(self).cast_mut().cast(),
            num_task: self.group.tasks().cast_signed(),
        };
        // SAFETY: the creator of the launch guarantees `lambda` and `data`.
        let outcome =
            unsafe { launcher::run_task(self.lambda, task.cast_signed(), &raw mut env, self.data) };
        if task != 0 {
            // An error raised by a task that succeeds must not be mistaken for the error of a later
            // task on this thread.
            drop(raised_error::take());
        }
        if let Err(error) = outcome {
            self.record(error);
        }
    }

    /// Stores an error if it is the first one of this launch.
    fn record(&self, error: Error) {
        let error = error.into_object().into_raw().as_ptr();
        let first = self.first_error.compare_exchange(
            ptr::null_mut(),
            error,
            Ordering::AcqRel,
            Ordering::Relaxed,
        );
        if first.is_err() {
            // SAFETY: the object is an error, and this thread owns one reference to it.
            drop(unsafe { error_of(NonNull::new_unchecked(error)) });
        }
    }

    fn take_error(&self) -> Option<Error> {
        let error = self.first_error.swap(ptr::null_mut(), Ordering::Acquire);
        // SAFETY: the launch owned one reference to the error.
        NonNull::new(error).map(|error| unsafe { error_of(error) })
    }

    /// Waits until all tasks have reached the barrier.
    ///
    /// # Errors
    /// RuntimeError if a task has ended without reaching it, or in a process that was forked during
    /// the launch.
    pub(super) fn barrier(&self) -> Result<()> {
        if self.next.load(Ordering::Relaxed) < self.group.tasks() {
            // Tasks that meet must run concurrently.
            self.deliver_rest();
        }
        let have_met = self.group.barrier().map_err(forked)?;
        ensure!(have_met, RuntimeError, "a parallel task ended while others wait at a barrier");
        Ok(())
    }
}

/// Converts an owned error object into an error.
///
/// # Safety
///
/// The object must be an error; the call consumes one strong reference to it.
unsafe fn error_of(object: NonNull<TVMFFIObject>) -> Error {
    // SAFETY: the caller's promise.
    unsafe { Error::from_object_unchecked(ObjectRef::from_raw(object)) }
}

fn forked(_: Forked) -> Error {
    error!(
        RuntimeError,
        "the process was forked while parallel tasks ran, which only its parent finishes"
    )
}
