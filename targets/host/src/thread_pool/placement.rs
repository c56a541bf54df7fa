//! Placement of threads: keeps workers off the launching thread's processor.
//!
//! If the scheduler balances load late or not at all, both threads of a launch may share one
//! processor for many launches. At a barrier each then waits for the other's time slice; without
//! barriers, the launching thread runs all tasks itself. So a worker that receives a task on the
//! launching thread's processor moves away. If a worker cannot run because it waits for that
//! processor, the launching thread moves it.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::time::Duration;

use super::{affinity, settings, system};

/// Minimum time between two moves made by the same thread. It limits the number of moves when
/// concurrent launches move the same worker back and forth.
const PAUSE: Duration = Duration::from_millis(2);

/// Processor of a launching thread, which workers should avoid.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// Number of the processor; negative if workers may run anywhere.
    processor: i32,
}

impl Origin {
    /// Returns the calling thread's processor as the origin of a launch. If there are more tasks
    /// than processors, workers may run anywhere, since some must share a processor.
    pub(super) fn here(tasks: usize) -> Origin {
        Origin {
            processor: if tasks <= settings::processors() { system::this_processor() } else { -1 },
        }
    }

    /// Moves the calling worker to another processor if it runs on this one and is not bound to it.
    pub(super) fn leave(self) {
        if self.processor >= 0 && self.processor == system::this_processor() && is_time() {
            affinity::move_off(system::THIS_THREAD, self.processor);
        }
    }

    /// Moves the thread of a worker that has not begun its task to another processor if it
    /// `may_be_on` this one.
    pub(super) fn send_away(self, thread: system::Thread, may_be_on: impl FnOnce(i32) -> bool) {
        if self.processor >= 0 && may_be_on(self.processor) && is_time() {
            affinity::move_off(thread, self.processor);
        }
    }
}

/// Returns `true` if the calling thread's last move was at least [`PAUSE`] ago.
fn is_time() -> bool {
    thread_local!(static LAST: Cell<Duration> = const { Cell::new(Duration::ZERO) });
    let now = system::coarse_time();
    let is_time = now.saturating_sub(LAST.get()) > PAUSE;
    if is_time {
        LAST.set(now);
    }
    is_time
}
