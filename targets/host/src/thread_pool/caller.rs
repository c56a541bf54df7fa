//! Thread-local state of launching threads: the default number of tasks, and whether the thread
//! runs a task.
#![forbid(unsafe_code)]

use std::cell::Cell;

use super::settings;

thread_local! {
    /// Whether this thread runs a task, which makes its launches nested.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };

    /// Default number of tasks of this thread's launches; zero if not configured.
    static NUM_TASKS: Cell<usize> = const { Cell::new(0) };
}

/// Returns the default number of tasks of this thread's launches.
pub(super) fn num_tasks() -> usize {
    match NUM_TASKS.get() {
        0 => settings::max_concurrency(),
        count => count,
    }
}

/// Sets the default number of tasks of this thread's launches, at most
/// [`settings::max_concurrency`]; 0 restores that maximum.
pub(super) fn set_num_tasks(count: usize) {
    NUM_TASKS.set(count.min(settings::max_concurrency()));
}

/// Returns `true` if a launch from this thread is nested in a task.
pub(super) fn is_in_task() -> bool {
    IN_TASK.get()
}

/// Marks this thread as running a task from now on.
pub(super) fn enter_task() {
    IN_TASK.set(true);
}

/// Marks this thread as running a task while `body` runs.
pub(super) fn in_task<R>(body: impl FnOnce() -> R) -> R {
    let before = IN_TASK.replace(true);
    let result = body();
    IN_TASK.set(before);
    result
}
