//! Execution of one launch: its tasks, its barrier and its first error.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::call::backend::launcher::{self, ParallelGroupEnv, ParallelLambda};
use ferrite_core::error::{Error, Result, raised_error};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::{ensure, error};

use super::mailbox::Delivery;
use super::placement::Origin;
use super::task_group::{Forked, TaskGroup};

/// A launch in progress, on the stack of the launching thread.
pub(super) struct Launch {
    group: TaskGroup,
    origin: Origin,
    lambda: ParallelLambda,
    data: *mut c_void,
    /// Owned error of the task that failed first, or null.
    first_error: AtomicPtr<TVMFFIObject>,
}

// SAFETY: `lambda` and `data` may be used by several threads at once (contract of `Launch::new`);
// the rest is atomic.
unsafe impl Sync for Launch {}

impl Launch {
    /// Creates a launch of `tasks` tasks, each of which must be [run](Launch::run) once.
    ///
    /// # Safety
    /// `lambda` must accept `data` on several threads at once while the launch lives.
    pub(super) unsafe fn new(lambda: ParallelLambda, data: *mut c_void, tasks: u32) -> Launch {
        Launch {
            group: TaskGroup::new(tasks),
            origin: Origin::here(tasks as usize),
            lambda,
            data,
            first_error: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Waits until all tasks have ended. Must be called by the launching thread, after the tasks
    /// that it runs.
    ///
    /// # Errors
    /// The error of the task that failed first; RuntimeError in a process that was forked during
    /// the launch.
    pub(super) fn join(&self) -> Result<()> {
        let joined = self.group.join();
        let outcome = self.take_error().map_or(Ok(()), Err);
        joined.map_err(forked)?;
        outcome
    }

    /// Returns the processor of the launching thread.
    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    /// Runs one task on a worker. On return, the launch may be destroyed.
    ///
    /// # Safety
    /// Same requirements as [`Launch::run`].
    pub(super) unsafe fn run_on_worker(delivery: Delivery<Launch>) {
        // SAFETY: the caller's promise.
        unsafe {
            (*delivery.launch).origin.leave();
            Launch::run(delivery);
        }
    }

    /// Runs one task. On return, the launch may be destroyed, unless the caller is the launching
    /// thread.
    ///
    /// # Safety
    /// The launch must live until its last task has ended, and no other thread may run this task.
    pub(super) unsafe fn run(delivery: Delivery<Launch>) {
        let Delivery { launch, task } = delivery;
        // SAFETY: the caller guarantees the launch, which lives until this task has ended; no
        // reference to it lives longer.
        unsafe {
            if let Err(error) = (*launch).call(task) {
                (*launch).record(error);
            }
            TaskGroup::end_task(&raw const (*launch).group);
        }
    }

    fn call(&self, task: u32) -> Result<()> {
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
        outcome
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
