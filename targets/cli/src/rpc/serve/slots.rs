//! The sessions that run at a time, and the clients that wait for one, in their order.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting client is asked whether it is still there.
const LOOK: Duration = Duration::from_millis(200);

/// Places for sessions.
pub struct Slots {
    state: Mutex<SlotState>,
    freed: Condvar,
    sessions: usize,
    waiting: usize,
}

#[derive(Default)]
struct SlotState {
    running: usize,
    queue: VecDeque<u64>,
    next: u64,
}

/// A place, until it is dropped.
pub struct Slot<'a>(&'a Slots);

/// The reason why a client gets no place.
#[derive(Debug, PartialEq, Eq)]
pub enum NoSlot {
    /// As many clients wait as may.
    Full,
    /// The client is gone.
    Gone,
}

impl Slots {
    /// Creates places for `sessions` sessions and `waiting` clients.
    pub fn new(sessions: usize, waiting: usize) -> Slots {
        Slots { state: Mutex::default(), freed: Condvar::new(), sessions, waiting }
    }

    /// Waits for a place, after the clients that came before.
    ///
    /// # Errors
    /// Full, or Gone as soon as `is_gone` returns `true`.
    pub fn wait(&self, mut is_gone: impl FnMut() -> bool) -> Result<Slot<'_>, NoSlot> {
        let mut state = self.lock();
        if state.running + state.queue.len() >= self.sessions + self.waiting {
            return Err(NoSlot::Full);
        }
        let ticket = state.next;
        state.next += 1;
        state.queue.push_back(ticket);
        while state.running >= self.sessions || state.queue.front() != Some(&ticket) {
            drop(state);
            let gone = is_gone();
            state = self.lock();
            if gone {
                state.queue.retain(|other| *other != ticket);
                self.freed.notify_all();
                return Err(NoSlot::Gone);
            }
            if state.running < self.sessions && state.queue.front() == Some(&ticket) {
                break;
            }
            state = match self.freed.wait_timeout(state, LOOK) {
                Ok((state, _)) => state,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        state.queue.pop_front();
        state.running += 1;
        self.freed.notify_all();
        Ok(Slot(self))
    }

    fn lock(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn clients_wait_in_their_order_and_the_gone_leave() {
        let slots = Slots::new(1, 2);
        let first = slots.wait(|| false).ok();
        assert!(first.is_some());
        let (order, served) = mpsc::channel();
        let queued = || slots.lock().queue.len();
        std::thread::scope(|scope| {
            let client = |name, order: mpsc::Sender<_>, gone: bool| {
                let before = queued();
                let slots = &slots;
                scope.spawn(move || {
                    let slot = slots.wait(|| gone);
                    let _ = order.send((name, slot.as_ref().err() == Some(&NoSlot::Gone)));
                });
                while !gone && queued() == before {
                    std::thread::yield_now();
                }
            };
            client("second", order.clone(), false);
            client("gone", order.clone(), true);
            assert_eq!(served.recv(), Ok(("gone", true)));
            client("third", order.clone(), false);
            assert_eq!(slots.wait(|| false).err(), Some(NoSlot::Full));
            drop(first);
            assert_eq!(served.recv(), Ok(("second", false)));
            assert_eq!(served.recv(), Ok(("third", false)));
        });
        assert!(slots.wait(|| true).is_ok());
    }
}
