//! Barrier and join for the tasks of one launch, in one atomic word. So neither takes a lock, and
//! the counts are always consistent.
//!
//! | bits | content |
//! |---|---|
//! | 0 to 10 | tasks that have not ended |
//! | 11 to 21 | tasks at the barrier |
//! | 22 | phase: changes whenever all tasks have reached the barrier |
//! | 23 | whether a thread sleeps until the word changes |

use ferrite_core::platform::sync::atomic::{AtomicU32, Ordering};

use super::{futex, process, spin};

const COUNT: u32 = (1 << 11) - 1;
const ARRIVED_SHIFT: u32 = 11;
const ONE_ARRIVED: u32 = 1 << ARRIVED_SHIFT;
const PHASE: u32 = 1 << 22;
const ASLEEP: u32 = 1 << 23;

/// Synchronisation state of a launch's tasks.
pub(super) struct TaskGroup {
    word: AtomicU32,
    tasks: u32,
    /// Identity of the process whose threads run the tasks.
    process: u32,
}

/// Error: the process was forked while the tasks ran. In the child, no threads run the other tasks.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Forked;

fn unfinished(word: u32) -> u32 {
    word & COUNT
}

fn arrived(word: u32) -> u32 {
    (word >> ARRIVED_SHIFT) & COUNT
}

impl TaskGroup {
    /// Creates a group of `tasks` tasks, at most [`MAX_TASKS`](super::MAX_TASKS), none of which has
    /// ended.
    pub(super) fn new(tasks: u32) -> TaskGroup {
        debug_assert!(tasks <= COUNT);
        TaskGroup { word: AtomicU32::new(tasks), tasks, process: process::current() }
    }

    /// Returns the number of tasks.
    pub(super) fn tasks(&self) -> u32 {
        self.tasks
    }

    /// Waits until all tasks have reached the barrier. Returns `false` if a task has ended instead.
    ///
    /// # Errors
    /// [`Forked`] if the other tasks are threads of another process.
    pub(super) fn barrier(&self) -> Result<bool, Forked> {
        let Some(before) = self.arrive() else { return Ok(false) };
        if arrived(before) + 1 == self.tasks {
            if before & ASLEEP != 0 {
                futex::wake(&raw const self.word);
            }
            return Ok(true);
        }
        let has_met = |word: u32| (word ^ before) & PHASE != 0;
        let word = self.wait_until(|word| has_met(word) || unfinished(word) < self.tasks)?;
        Ok(has_met(word))
    }

    /// Counts the calling task as arrived at the barrier. The last arrival begins the next phase.
    /// Returns the previous word, or `None` if a task has ended.
    fn arrive(&self) -> Option<u32> {
        let mut before = self.word.load(Ordering::Relaxed);
        loop {
            if unfinished(before) < self.tasks {
                return None;
            }
            let is_last = arrived(before) + 1 == self.tasks;
            let after =
                if is_last { (before & PHASE ^ PHASE) | self.tasks } else { before + ONE_ARRIVED };
            // Each arrival releases its task's writes. The last one acquires them all, and releases
            // them to the tasks that see the phase change.
            match self.word.compare_exchange_weak(
                before,
                after,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(before),
                Err(now) => before = now,
            }
        }
    }

    /// Counts one task as ended. On return, the group may be destroyed, unless the caller is the
    /// launching thread.
    ///
    /// # Safety
    /// `this` must live until its last task has ended, and each of its tasks must end once.
    pub(super) unsafe fn end_task(this: *const TaskGroup) {
        // SAFETY: the group lives until the subtraction, which may be the last; afterwards only its
        // address is used.
        unsafe {
            let word = &raw const (*this).word;
            let before = (*word).fetch_sub(1, Ordering::AcqRel);
            let is_awaited = unfinished(before) == 1 || arrived(before) > 0;
            if before & ASLEEP != 0 && is_awaited {
                futex::wake(word);
            }
        }
    }

    /// Returns `true` if all tasks have ended.
    pub(super) fn has_ended(&self) -> bool {
        unfinished(self.word.load(Ordering::Acquire)) == 0
    }

    /// Waits until all tasks have ended.
    ///
    /// # Errors
    /// [`Forked`] if the other tasks are threads of another process.
    pub(super) fn join(&self) -> Result<(), Forked> {
        self.wait_until(|word| unfinished(word) == 0).map(|_| ())
    }

    /// Waits until the word satisfies a condition, and returns it. Polls first, then sleeps.
    fn wait_until(&self, condition: impl Fn(u32) -> bool) -> Result<u32, Forked> {
        if let Some(word) =
            spin::poll(|| Some(self.word.load(Ordering::Acquire)).filter(|word| condition(*word)))
        {
            return Ok(word);
        }
        loop {
            let word = self.word.load(Ordering::Acquire);
            if condition(word) {
                return Ok(word);
            }
            if process::current() != self.process {
                return Err(Forked);
            }
            self.sleep_while(word);
        }
    }

    /// Sets the bit that announces a sleeping thread, and sleeps while the word keeps its value.
    fn sleep_while(&self, word: u32) {
        let asleep = word | ASLEEP;
        let has_said =
            self.word.compare_exchange(word, asleep, Ordering::Relaxed, Ordering::Relaxed);
        if has_said.is_ok() {
            futex::wait(&self.word, asleep);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_that_sleeps_at_the_barrier_or_the_join_is_woken() {
        let group = TaskGroup::new(2);
        let wait_for_sleeper = || {
            while group.word.load(Ordering::Relaxed) & ASLEEP == 0 {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                assert_eq!(group.barrier(), Ok(true));
                // SAFETY: the group outlives its tasks.
                unsafe { TaskGroup::end_task(&group) };
                group.join().unwrap();
            });
            wait_for_sleeper();
            assert_eq!(group.barrier(), Ok(true));
            wait_for_sleeper();
            // SAFETY: as above.
            unsafe { TaskGroup::end_task(&group) };
            other.join().unwrap();
        });
    }

    #[test]
    fn a_forked_process_does_not_wait_for_its_parents_threads() {
        let group = TaskGroup { process: process::current().wrapping_add(1), ..TaskGroup::new(2) };
        assert_eq!(group.barrier(), Err(Forked));
        assert_eq!(group.join(), Err(Forked));
    }
}
