//! Models of the gate between forks and calls that take locks of other libraries. A fork is a read
//! of the cell that calls write: loom fails if they overlap, or if one does not see the other.

use std::time::Duration;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;

use crate::fork_gate::ForkGate;

const AS_LONG_AS_IT_TAKES: Duration = Duration::MAX;

/// A gate, and the memory that calls change and a fork copies.
struct Process {
    gate: ForkGate,
    memory: UnsafeCell<u32>,
}

// SAFETY: loom checks for concurrent use of the cell.
unsafe impl Sync for Process {}
// SAFETY: as above.
unsafe impl Send for Process {}

impl Process {
    fn new() -> Arc<Process> {
        Arc::new(Process { gate: ForkGate::new(AtomicUsize::new(0)), memory: UnsafeCell::new(0) })
    }

    fn call(&self) {
        // SAFETY: loom checks for concurrent accesses.
        self.memory.with_mut(|memory| unsafe { *memory += 1 });
    }

    fn copy(&self) -> u32 {
        // SAFETY: loom checks for concurrent writes.
        self.memory.with(|memory| unsafe { *memory })
    }

    /// Forks in the parent's view. Returns the number of calls that were made before.
    fn fork(&self, own: usize) -> u32 {
        self.gate.prepare(own, AS_LONG_AS_IT_TAKES);
        let copied = self.copy();
        self.gate.parent();
        copied
    }
}

#[test]
fn a_walk_is_whole_before_a_fork_or_after_it_or_left_out() {
    loom::model(|| {
        let process = Process::new();
        let theirs = process.clone();
        let forking = thread::spawn(move || theirs.fork(0));
        process.gate.unless_forking(|| process.call());
        let copied = forking.join().unwrap();
        assert!(copied <= process.copy());
        process.gate.unless_forking(|| process.call());
        assert!(process.copy() > copied, "the gate is open again");
    });
}

#[test]
fn a_call_waits_for_a_fork_and_a_fork_for_a_call() {
    loom::model(|| {
        let process = Process::new();
        let theirs = process.clone();
        let forking = thread::spawn(move || theirs.fork(0));
        process.gate.after_fork(false, AS_LONG_AS_IT_TAKES, || {
            process.call();
            // Would wait for ever if it waited for the fork, which waits for the outer call.
            process.gate.after_fork(true, AS_LONG_AS_IT_TAKES, || process.call());
        });
        assert!(matches!(forking.join().unwrap(), 0 | 2));
        assert_eq!(process.copy(), 2);
    });
}

#[test]
fn a_fork_within_a_call_waits_for_the_calls_of_others_only() {
    loom::model(|| {
        let process = Process::new();
        let theirs = process.clone();
        let other = thread::spawn(move || {
            theirs.gate.after_fork(false, AS_LONG_AS_IT_TAKES, || theirs.call());
        });
        let copied = process.gate.after_fork(false, AS_LONG_AS_IT_TAKES, || process.fork(1));
        other.join().unwrap();
        assert!(copied <= 1);
    });
}

/// The walk lasts until the child is there, longer than the fork waits.
#[test]
fn a_child_that_was_forked_during_a_walk_does_not_walk() {
    loom::model(|| {
        let process = Process::new();
        let (locked, forked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (theirs, their_lock, is_forked) = (process.clone(), locked.clone(), forked.clone());
        let walking = thread::spawn(move || {
            theirs.gate.unless_forking(|| {
                their_lock.store(true, Ordering::Release);
                while !is_forked.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        });
        process.gate.prepare(0, Duration::ZERO);
        let is_locked = locked.load(Ordering::Acquire);
        process.gate.child_without_calls();
        process.gate.unless_forking(|| assert!(!is_locked, "a walk with an inherited lock"));
        forked.store(true, Ordering::Release);
        walking.join().unwrap();
    });
}
