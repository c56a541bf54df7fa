//! A place where one thread waits until others have made a condition true: it spins for a while, then sleeps.
//!
//! `std::thread::park` would do, but the handle of a thread that std did not start comes from memory that must not be refused.

use std::hint;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Rounds of busy waiting before a thread sleeps: about as long as waking it takes.
pub(super) const SPIN_ROUNDS: usize = 2_000;

pub(super) struct Waiter {
    asleep: Mutex<bool>,
    woken: Condvar,
}

impl Waiter {
    pub(super) const fn new() -> Waiter {
        Waiter { asleep: Mutex::new(false), woken: Condvar::new() }
    }

    /// Waits until `ready`, on one thread at a time.
    pub(super) fn wait_until(&self, ready: impl Fn() -> bool) {
        for _ in 0..SPIN_ROUNDS {
            if ready() {
                return;
            }
            hint::spin_loop();
        }
        let mut asleep = self.lock();
        while !ready() {
            *asleep = true;
            asleep = self.woken.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep = false;
    }

    /// Makes the thread, if one sleeps here, look at its condition again. To be called after the condition has changed.
    pub(super) fn wake(&self) {
        let asleep = *self.lock();
        if asleep {
            self.woken.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        // Nothing panics under the lock.
        self.asleep.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
