//! A gate between forks and calls that take locks of other libraries, such as those of the dynamic
//! linker.
//!
//! A child process inherits the state of these locks. If another thread held one during the fork,
//! the child would deadlock when it needs the lock. So a fork closes the gate and waits for calls
//! in progress, and no call begins behind a closed gate.
//!
//! One atomic word has the state of the gate and the number of calls in progress, so that a fork
//! and a call that begin at the same time see each other.
#![forbid(unsafe_code)]

use core::time::Duration;

use ferrite_core::platform::sync::atomic::{AtomicUsize, Ordering};

use crate::wait::wait_while;

/// State: a fork is in progress.
const FORKING: usize = 1;
/// State: this process was forked during a call of another thread, whose locks are never released.
const ABANDONED: usize = 2;
/// Bits of a closed gate.
const CLOSED: usize = FORKING | ABANDONED;
/// One call in progress.
const CALL: usize = 4;

/// A gate that is closed while the process forks.
pub(crate) struct ForkGate(AtomicUsize);

impl ForkGate {
    /// Creates an open gate; `state` is 0.
    pub(crate) const fn new(state: AtomicUsize) -> Self {
        Self(state)
    }

    /// Runs `call`, unless a fork is in progress or
    /// [`child_without_calls`](Self::child_without_calls) has closed the gate. Never waits.
    pub(crate) fn unless_forking(&self, call: impl FnOnce()) {
        if self.try_enter() {
            let _call = Call(&self.0);
            call();
        }
    }

    /// Runs `call` after the fork in progress, if there is one, or after `longest`. Runs it at once
    /// if it is part of another call of this thread, for which a fork may be waiting.
    pub(crate) fn after_fork<R>(
        &self,
        is_nested: bool,
        longest: Duration,
        call: impl FnOnce() -> R,
    ) -> R {
        while !self.try_enter() {
            if is_nested || !wait_while(|| !self.is_open(), longest) {
                self.0.fetch_add(CALL, Ordering::Relaxed);
                break;
            }
        }
        let _call = Call(&self.0);
        call()
    }

    fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) & CLOSED == 0
    }

    /// Counts a call and returns `true` if the gate is open.
    fn try_enter(&self) -> bool {
        // Acquire pairs with the Release of `parent`: the fork has copied the memory.
        let enter = |state: usize| (state & CLOSED == 0).then_some(state + CALL);
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_ok()
    }

    /// Closes the gate before a fork, and waits up to `longest` until only `own` calls of this
    /// thread are in progress.
    pub(crate) fn prepare(&self, own: usize, longest: Duration) {
        // Acquire pairs with the Release of calls that ended: their locks are free.
        let before = self.0.fetch_or(FORKING, Ordering::Acquire);
        if before & ABANDONED == 0 && before / CALL > own {
            wait_while(|| self.0.load(Ordering::Acquire) / CALL > own, longest);
        }
    }

    /// Opens the gate in the parent process.
    pub(crate) fn parent(&self) {
        self.0.fetch_and(!FORKING, Ordering::Release);
    }

    /// Opens the gate in the child, and forgets the calls of threads that do not exist there.
    pub(crate) fn child(&self, own: usize) {
        self.0.store(own * CALL, Ordering::Relaxed);
    }

    /// Opens the gate in the child, unless a call was in progress: then it stays closed.
    pub(crate) fn child_without_calls(&self) {
        let state = self.0.load(Ordering::Relaxed);
        let abandoned = if state >= CALL { ABANDONED } else { 0 };
        self.0.store(state & !FORKING | abandoned, Ordering::Relaxed);
    }
}

/// A call that is counted until this is dropped.
struct Call<'a>(&'a AtomicUsize);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(CALL, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn gate() -> ForkGate {
        ForkGate::new(AtomicUsize::new(0))
    }

    /// Returns `true` if a call that does not wait is made.
    fn lets_calls_through(gate: &ForkGate) -> bool {
        let mut done = false;
        gate.unless_forking(|| done = true);
        done
    }

    #[test]
    fn calls_are_left_out_or_wait_while_the_process_forks() {
        let gate = gate();
        assert!(lets_calls_through(&gate));
        gate.prepare(0, Duration::MAX);
        assert!(!lets_calls_through(&gate));
        assert_eq!(gate.after_fork(true, Duration::MAX, || 1), 1, "a nested call does not wait");
        assert_eq!(
            gate.after_fork(false, Duration::ZERO, || 2),
            2,
            "another call waits for its longest time"
        );
        gate.parent();
        assert!(lets_calls_through(&gate));
    }

    #[test]
    fn a_child_counts_its_own_calls_only() {
        let gate = gate();
        let state = || gate.0.load(Ordering::Relaxed);
        gate.after_fork(false, Duration::MAX, || {
            // As if of another thread, which the child does not have.
            let other = Call(&gate.0);
            gate.0.fetch_add(CALL, Ordering::Relaxed);
            gate.prepare(1, Duration::ZERO);
            assert_eq!(state(), 2 * CALL + FORKING);
            gate.child(1);
            core::mem::forget(other);
        });
        assert_eq!(state(), 0);
    }

    #[test]
    fn a_gate_with_abandoned_work_stays_closed() {
        let gate = gate();
        gate.prepare(0, Duration::MAX);
        gate.child_without_calls();
        assert!(lets_calls_through(&gate));
        gate.unless_forking(|| {
            gate.prepare(0, Duration::ZERO);
            gate.child_without_calls();
            assert!(!lets_calls_through(&gate));
            gate.prepare(0, Duration::MAX);
            gate.parent();
        });
        assert!(!lets_calls_through(&gate));
    }
}
