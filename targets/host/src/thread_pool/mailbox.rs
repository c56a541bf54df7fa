//! Mailbox of a worker: a slot for one task, filled by the launching thread, and emptied by the
//! worker or the launching thread.
//!
//! When the launching thread has nothing else to do, it takes back tasks that workers have not
//! begun. So a short loop does not wait for a worker that the scheduler has not run yet. A worker
//! that is scheduled late finds its mailbox empty.

use core::ptr;

use ferrite_core::platform::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::{futex, spin};

/// State: the mailbox is empty and its owner is awake, polling or running a task.
const EMPTY: u32 = 0;
/// State: the mailbox contains a task.
const FULL: u32 = 1;
/// State: the mailbox is empty, and its owner sleeps until it is filled.
const ASLEEP: u32 = 2;

/// Slot for one task, given by its launch and its number.
pub(super) struct Mailbox<L> {
    state: AtomicU32,
    /// Number of tasks put into the mailbox so far.
    puts: AtomicU32,
    /// Number of the task. Like `launch`, it is written while the mailbox is empty, and read by the
    /// thread that has taken the task.
    task: AtomicU32,
    launch: AtomicPtr<L>,
}

/// A task that was taken from a mailbox: its launch and its number.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Delivery<L> {
    pub(super) launch: *const L,
    pub(super) task: u32,
}

impl<L> Mailbox<L> {
    /// Creates an empty mailbox.
    pub(super) fn new() -> Mailbox<L> {
        Mailbox {
            state: AtomicU32::new(EMPTY),
            puts: AtomicU32::new(0),
            task: AtomicU32::new(0),
            launch: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Puts a task into the mailbox, and wakes the owner if it sleeps. Returns `true` if it slept.
    /// The mailbox must be empty, and only one thread at a time may put tasks into it.
    pub(super) fn put(&self, launch: *const L, task: u32) -> bool {
        self.puts.store(self.puts.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.task.store(task, Ordering::Relaxed);
        self.launch.store(launch.cast_mut(), Ordering::Relaxed);
        let slept = self.state.swap(FULL, Ordering::AcqRel) == ASLEEP;
        if slept {
            futex::wake(&raw const self.state);
        }
        slept
    }

    /// Takes the task out of the mailbox. Returns `None` if the mailbox is empty.
    pub(super) fn take(&self) -> Option<Delivery<L>> {
        let is_full = self.state.load(Ordering::Relaxed) == FULL;
        if !is_full
            || self
                .state
                .compare_exchange(FULL, EMPTY, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
        {
            return None;
        }
        Some(Delivery {
            launch: self.launch.load(Ordering::Relaxed),
            task: self.task.load(Ordering::Relaxed),
        })
    }

    /// Waits for a task and takes it. Only the owner may call this. Calls `look_around` repeatedly
    /// while it polls, and `before_sleep` before it sleeps.
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
            // Tasks that were taken back count as work, too: more may follow, so the worker stays
            // awake.
            if self.puts.load(Ordering::Relaxed) == puts {
                before_sleep();
                self.sleep();
            }
        }
    }

    /// Sleeps until a task is put into the mailbox. By the time this returns, another thread may
    /// have taken the task.
    fn sleep(&self) {
        if self.state.compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
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
