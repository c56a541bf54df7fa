//! Back-off of a launching thread from workers that other work delays.
//!
//! A worker that is preempted in the middle of a task delays its launch by a time slice, many times
//! as long as a short loop. Workers that sleep soon because other work needs their processors are
//! woken at each launch, and come too late. In both cases the thread's launches use half as many
//! threads for a period, which doubles while delays recur. The number of tasks, hence the results,
//! stay the same.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::time::Duration;

use super::settings::MAX_TASKS;
use super::system;

/// Wait for workers above which one of them must have been preempted, if it is also longer than the
/// launching thread's own part.
const DELAY: Duration = Duration::from_millis(1);

/// Launches in a row whose workers had to be woken, and began no task before the launching thread
/// was through. The first ones after a pause are like that on an idle machine, too.
const MAX_LATE: u32 = 4;

/// Length of the first period, and of the time after a period in which a delay recurs. Threads that
/// are not delayed for longer save more time than a delay costs.
const FIRST_PERIOD: Duration = Duration::from_millis(16);

/// Maximum length of a period, in which a probe of all workers may cost a time slice.
const MAX_PERIOD: Duration = Duration::from_secs(1);

thread_local!(static BACKOFF: Cell<Backoff> = const { Cell::new(Backoff::NONE) });

/// Back-off of one thread.
#[derive(Clone, Copy)]
struct Backoff {
    /// Number of times that the threads are halved.
    halvings: u32,
    /// End of the period, or of the time after it in which a delay recurs.
    end: Duration,
    period: Duration,
    /// Launches in a row whose workers were woken too late.
    late: u32,
}

/// Returns how many of the workers of this thread's next launch to use.
pub(super) fn usable(workers: usize) -> usize {
    let backoff = BACKOFF.get();
    if backoff.halvings == 0 {
        return workers;
    }
    let backoff = backoff.at(system::coarse_time());
    BACKOFF.set(backoff);
    backoff.usable(workers)
}

/// Takes note of a launch's time on this thread, and of its wait for workers after that.
pub(super) fn note_wait(own: Duration, waited: Duration) {
    if waited > own.max(DELAY) {
        BACKOFF.set(BACKOFF.get().delayed(system::coarse_time()));
    }
}

/// Takes note of a launch with workers: whether they were woken, but too late to begin a task.
pub(super) fn note_workers(were_late: bool) {
    let backoff = BACKOFF.get();
    if were_late || backoff.late != 0 {
        BACKOFF.set(backoff.after_launch(were_late, system::coarse_time));
    }
}

impl Backoff {
    const NONE: Backoff =
        Backoff { halvings: 0, end: Duration::ZERO, period: Duration::ZERO, late: 0 };

    /// Returns how many of a launch's workers to use.
    fn usable(self, workers: usize) -> usize {
        ((workers + 1) >> self.halvings).saturating_sub(1)
    }

    /// Doubles the number of threads if the period has ended.
    fn at(self, now: Duration) -> Backoff {
        if now < self.end {
            return self;
        }
        Backoff { halvings: self.halvings.saturating_sub(1), end: now + FIRST_PERIOD, ..self }
    }

    /// Halves the number of threads, for twice the last period if the delay recurs.
    fn delayed(self, now: Duration) -> Backoff {
        let recurs = now < self.end;
        let period = if recurs { (2 * self.period).min(MAX_PERIOD) } else { FIRST_PERIOD };
        let halvings = (self.halvings + 1).min(MAX_TASKS.ilog2());
        Backoff { halvings, end: now + period, period, late: 0 }
    }

    /// Counts a launch with workers. The last of [`MAX_LATE`] late ones is a delay.
    fn after_launch(self, were_late: bool, now: impl Fn() -> Duration) -> Backoff {
        match self.late + 1 {
            _ if !were_late => Backoff { late: 0, ..self },
            MAX_LATE => self.delayed(now()),
            late => Backoff { late, ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn delays_halve_the_threads_and_quiet_periods_double_them() {
        let twice = Backoff::NONE.delayed(100 * MS).delayed(101 * MS);
        assert_eq!([Backoff::NONE, twice].map(|backoff| backoff.usable(7)), [7, 1]);
        assert_eq!(twice.usable(1), 0);
        let probing = twice.at(twice.end);
        assert_eq!((probing.usable(7), probing.at(twice.end).usable(7)), (3, 3));
        assert_eq!(probing.at(probing.end).usable(7), 7);
    }

    #[test]
    fn periods_double_while_delays_recur() {
        let mut backoff = Backoff::NONE.delayed(100 * MS);
        assert_eq!(backoff.period, FIRST_PERIOD);
        for _ in 0..10 {
            let probing = backoff.at(backoff.end);
            backoff = probing.delayed(backoff.end + MS);
        }
        assert_eq!((backoff.period, backoff.halvings), (MAX_PERIOD, 1));
        let later = backoff.at(backoff.end).delayed(backoff.end + 2 * FIRST_PERIOD);
        assert_eq!(later.period, FIRST_PERIOD);
    }

    #[test]
    fn workers_that_are_late_several_times_in_a_row_are_delayed() {
        for (launches, halvings) in [("lll.lll", 0), ("..llll", 1), ("llllllll", 2)] {
            let after = launches
                .chars()
                .fold(Backoff::NONE, |backoff, launch| backoff.after_launch(launch == 'l', || MS));
            assert_eq!(after.halvings, halvings, "{launches}");
        }
    }

    #[test]
    fn waits_that_are_short_or_shorter_than_the_threads_own_part_are_no_delays() {
        note_wait(Duration::ZERO, DELAY);
        note_wait(3 * MS, 3 * MS);
        assert_eq!(usable(7), 7);
        note_wait(2 * MS, 3 * MS);
        assert_eq!(usable(7), 3);
    }
}
