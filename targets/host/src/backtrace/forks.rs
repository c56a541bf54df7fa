//! Forks and walks of the stack: a fork waits a moment for the walks at work, and none begins until it is over.
//!
//! A walk takes locks of others: that of the dynamic linker's lists, and that of the reader of debug information. A child
//! inherits them as they were: if another thread held one at that moment, the child would wait for ever at its first
//! error.
//!
//! Neither side may wait for the other without end, since a program has locks of its own around both: a thread that
//! raises an error under one, and a fork that takes it after this library's handler ran. So a walk never waits: errors
//! raised while the process forks have no frames. The wait of a fork has an end: a child that was forked nevertheless in
//! the middle of another thread's walk never walks its stack.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use ferrite_core::sync::fork::Hook;

/// Walks at work, on all threads.
static WALKS: AtomicUsize = AtomicUsize::new(0);

/// Whether a fork is under way.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked in the middle of a walk, whose locks nobody gives back.
static LOST: AtomicBool = AtomicBool::new(false);

/// The longest that a fork waits. A walk takes some milliseconds when it reads tables of symbols, microseconds otherwise.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs `walk` unless the process forks. Never waits.
pub(super) fn unless_forking(walk: impl FnOnce()) {
    struct AtWork;
    impl Drop for AtWork {
        fn drop(&mut self) {
            WALKS.fetch_sub(1, Ordering::Release);
        }
    }
    // The walk is announced before it looks for forks, and a fork before it looks for walks: one sees the other.
    WALKS.fetch_add(1, Ordering::SeqCst);
    let _at_work = AtWork;
    if !FORKING.load(Ordering::SeqCst) && !LOST.load(Ordering::Relaxed) {
        walk();
    }
}

/// Makes forks wait for walks.
pub(crate) static WALKS_AT_FORK: Hook = Hook { prepare, parent, child };

fn prepare() {
    FORKING.store(true, Ordering::SeqCst);
    if LOST.load(Ordering::Relaxed) || WALKS.load(Ordering::SeqCst) == 0 {
        return;
    }
    let start = Instant::now();
    while WALKS.load(Ordering::SeqCst) > 0 && start.elapsed() < PATIENCE {
        thread::yield_now();
    }
}

fn parent() {
    FORKING.store(false, Ordering::SeqCst);
}

/// The only thread of a new process: other threads that walked are not in it.
fn child() {
    if WALKS.load(Ordering::SeqCst) > 0 {
        LOST.store(true, Ordering::Relaxed);
    }
    FORKING.store(false, Ordering::SeqCst);
}
