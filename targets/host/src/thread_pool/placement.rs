//! Keeps workers off the processor of the launching thread.
//!
//! A system that balances its processors late, or not at all, leaves the two threads of a launch on one of them for many
//! launches in a row. Each then waits for the other's time slice at a barrier, and without barriers the launching thread runs all
//! tasks itself. So a worker that gets a task where the launch was made moves on, and the launching thread sends away a worker
//! that did not get as far because it waits for this very processor.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::time::Duration;

use super::worker::Worker;
use super::{affinity, settings, system};

/// The time between two moves that a thread makes: launches of several threads may want a worker at different places.
const PAUSE: Duration = Duration::from_millis(2);

/// Where a launch was made.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// Less than zero when workers may be anywhere.
    processor: i32,
}

impl Origin {
    /// The place of the calling thread, for a launch of so many tasks. Of more than there are processors, some share one.
    pub(super) fn here(tasks: usize) -> Origin {
        Origin { processor: if tasks <= settings::processors() { system::this_processor() } else { -1 } }
    }

    /// Moves the calling worker to another processor if it is here and may run elsewhere.
    pub(super) fn leave(self) {
        if self.processor >= 0 && self.processor == system::this_processor() && is_time() {
            affinity::move_off(system::THIS_THREAD, self.processor);
        }
    }

    /// Moves a worker that has not begun its task to another processor if it may be here.
    pub(super) fn send_away(self, worker: &Worker) {
        if self.processor >= 0 && worker.may_be_on(self.processor) && is_time() {
            affinity::move_off(worker.thread(), self.processor);
        }
    }
}

/// Whether the last move that the calling thread made is long enough ago.
fn is_time() -> bool {
    thread_local!(static LAST: Cell<Duration> = const { Cell::new(Duration::ZERO) });
    let now = system::coarse_time();
    let is_time = now.saturating_sub(LAST.get()) > PAUSE;
    if is_time {
        LAST.set(now);
    }
    is_time
}
