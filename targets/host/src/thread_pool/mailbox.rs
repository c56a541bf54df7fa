//! How a worker gets its task: a place for one task, which the launching thread fills and either of them takes out.
//!
//! The launching thread takes back what the worker has not begun when it has nothing else to do, so that a short loop does not
//! wait for a worker that the system has not let run. No task needs another one to have begun: whoever is late finds the task
//! before it ended.

use core::ptr;

use ferrite_core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::{futex, spin};

/// The mailbox is empty and its owner awake, looking at it or running a task.
const EMPTY: u32 = 0;
/// There is a task in the mailbox.
const FULL: u32 = 1;
/// The mailbox is empty, and its owner sleeps until that changes.
const ASLEEP: u32 = 2;

/// A place for one task: a launch, and the number of the task in it.
pub(super) struct Mailbox<L> {
    state: AtomicU32,
    /// How many tasks were put in.
    puts: AtomicU32,
    /// Like `launch`, read by whoever took the task and written when there is none.
    task: AtomicU32,
    launch: AtomicPtr<L>,
}

/// A task that was taken out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Delivery<L> {
    pub(super) launch: *const L,
    pub(super) task: u32,
}

impl<L> Mailbox<L> {
    /// An empty mailbox.
    pub(super) fn new() -> Mailbox<L> {
        Mailbox {
            state: AtomicU32::new(EMPTY),
            puts: AtomicU32::new(0),
            task: AtomicU32::new(0),
            launch: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Puts a task in, and wakes the owner if it sleeps. The mailbox must be empty, and only one thread put tasks in.
    pub(super) fn put(&self, launch: *const L, task: u32) {
        self.puts.store(self.puts.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.task.store(task, Ordering::Relaxed);
        self.launch.store(launch.cast_mut(), Ordering::Relaxed);
        if self.state.swap(FULL, Ordering::AcqRel) == ASLEEP {
            futex::wake(&raw const self.state);
        }
    }

    /// Takes the task out, if there is one still.
    pub(super) fn take(&self) -> Option<Delivery<L>> {
        let is_full = self.state.load(Ordering::Relaxed) == FULL;
        if !is_full || self.state.compare_exchange(FULL, EMPTY, Ordering::AcqRel, Ordering::Relaxed).is_err()
        {
            return None;
        }
        Some(Delivery {
            launch: self.launch.load(Ordering::Relaxed),
            task: self.task.load(Ordering::Relaxed),
        })
    }

    /// Waits for a task and takes it out. Only for the owner, who calls `look_around` now and then while it is awake, and
    /// `before_sleep` before it is not.
    pub(super) fn wait(&self, look_around: impl Fn(), before_sleep: impl Fn()) -> Delivery<L> {
        loop {
            let puts = self.puts.load(Ordering::Relaxed);
            let look = || {
                look_around();
                self.take()
            };
            if let Some(delivery) = spin::poll(look) {
                return delivery;
            }
            // Tasks that were taken back are work all the same: others like them may be worth staying awake for.
            if self.puts.load(Ordering::Relaxed) == puts {
                before_sleep();
                self.sleep();
            }
        }
    }

    /// Sleeps until a task is put in, which another thread may have taken out since.
    fn sleep(&self) {
        if self.state.compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        while self.state.load(Ordering::Relaxed) == ASLEEP {
            futex::wait(&self.state, ASLEEP);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_task_is_taken_once() {
        let mailbox = Mailbox::<u8>::new();
        assert_eq!(mailbox.take(), None);
        mailbox.put(&7, 3);
        assert!(mailbox.take().is_some_and(|delivery| delivery.task == 3));
        assert_eq!(mailbox.take(), None);
    }

    #[test]
    fn an_owner_that_sleeps_is_woken() {
        let mailbox = Mailbox::<u8>::new();
        thread::scope(|scope| {
            let owner = scope.spawn(|| mailbox.wait(|| (), || ()).task);
            while mailbox.state.load(Ordering::Relaxed) != ASLEEP {
                thread::yield_now();
            }
            mailbox.put(&7, 5);
            assert_eq!(owner.join().unwrap(), 5);
        });
    }
}
