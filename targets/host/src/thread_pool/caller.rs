//! The launching thread's state: number of tasks, and whether it runs one.
#![forbid(unsafe_code)]

use std::cell::Cell;

use super::settings;

thread_local! {
    /// Whether this thread runs a task, so that launches from here are nested.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };

    /// The number of tasks of launches from here that leave it open; zero when nothing was configured.
    static NUM_TASKS: Cell<usize> = const { Cell::new(0) };
}

/// The number of tasks of launches from here that leave it open.
pub(super) fn num_tasks() -> usize {
    match NUM_TASKS.get() {
        0 => settings::max_concurrency(),
        count => count,
    }
}

/// Makes launches from here that leave it open have so many tasks, as far as there are processors for them; 0 for the default.
pub(super) fn set_num_tasks(count: usize) {
    NUM_TASKS.set(count.min(settings::max_concurrency()));
}

/// Whether a launch from here is nested in a task.
pub(super) fn is_in_task() -> bool {
    IN_TASK.get()
}

/// Makes launches on this thread nested from now on.
pub(super) fn enter_task() {
    IN_TASK.set(true);
}

/// Makes launches on this thread nested while `body` runs.
pub(super) fn in_task<R>(body: impl FnOnce() -> R) -> R {
    let before = IN_TASK.replace(true);
    let result = body();
    IN_TASK.set(before);
    result
}
