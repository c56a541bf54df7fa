//! Keeps forks and stack walks apart: a fork briefly waits for running walks, and no walk begins during a fork.
//!
//! A walk takes locks of other libraries: the dynamic linker's, and that of the debug information reader. A child process
//! inherits their state. If another thread held one during the fork, the child would deadlock at its first error.
//!
//! Neither side may wait without limit, since the program may hold locks of its own around both: an error may be raised under
//! one, and a fork handler may take it after the handler of this library has run. So a walk never waits: errors raised during a
//! fork have no frames. A fork waits up to a limit. A child that was nevertheless forked during another thread's walk never
//! walks its stack.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use ferrite_core::sync::fork::Hook;

/// Number of walks in progress, on all threads.
static WALKS: AtomicUsize = AtomicUsize::new(0);

/// Whether a fork is in progress.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked during another thread's walk, whose locks stay held for ever.
static FORKED_IN_WALK: AtomicBool = AtomicBool::new(false);

/// Longest wait of a fork. A walk takes a few milliseconds if it reads symbol tables, otherwise microseconds.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Runs `walk` unless a fork is in progress. Never waits.
pub(super) fn unless_forking(walk: impl FnOnce()) {
    struct AtWork;
    impl Drop for AtWork {
        fn drop(&mut self) {
            WALKS.fetch_sub(1, Ordering::Release);
        }
    }
    // A walk increments its counter before it checks for forks, and a fork sets its flag before it checks for walks: at least
    // one sees the other.
    WALKS.fetch_add(1, Ordering::SeqCst);
    let _at_work = AtWork;
    if !FORKING.load(Ordering::SeqCst) && !FORKED_IN_WALK.load(Ordering::Relaxed) {
        walk();
    }
}

/// Fork handlers that make a fork wait for running walks.
pub(crate) static WALKS_AT_FORK: Hook = Hook { prepare, parent, child };

fn prepare() {
    FORKING.store(true, Ordering::SeqCst);
    if FORKED_IN_WALK.load(Ordering::Relaxed) || WALKS.load(Ordering::SeqCst) == 0 {
        return;
    }
    let start = Instant::now();
    while WALKS.load(Ordering::SeqCst) > 0 && start.elapsed() < LONGEST_WAIT {
        thread::yield_now();
    }
}

fn parent() {
    FORKING.store(false, Ordering::SeqCst);
}

/// Runs in the child, whose only thread is the one that forked.
fn child() {
    if WALKS.load(Ordering::SeqCst) > 0 {
        FORKED_IN_WALK.store(true, Ordering::Relaxed);
    }
    FORKING.store(false, Ordering::SeqCst);
}
