//! Synchronisation of forks and stack walks: a fork waits briefly for walks in progress, and no walk begins during a
//! fork.
//!
//! A walk takes locks of other libraries: those of the dynamic linker and of the debug information reader. A child
//! process inherits the state of these locks. If another thread held one during the fork, the child would deadlock at
//! its first error.
//!
//! Neither side may wait indefinitely. The program may hold a lock of its own while it raises an error, and one of its
//! fork handlers may take the same lock after the fork handler of this library has run. So a walk never waits: errors
//! raised during a fork have no frames. A fork waits up to [`LONGEST_WAIT`]. If a child is forked during another
//! thread's walk nevertheless, the child performs no walks.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use ferrite_core::sync::fork::Hook;

/// Number of walks in progress, on all threads.
static WALKS: AtomicUsize = AtomicUsize::new(0);

/// Whether a fork is in progress.
static FORKING: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked during another thread's walk. The locks of that walk are never released.
static FORKED_IN_WALK: AtomicBool = AtomicBool::new(false);

/// Maximum time that a fork waits for walks. A walk takes a few milliseconds if it reads symbol tables, otherwise
/// microseconds.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Runs `walk`, unless a fork is in progress or this process was forked during a walk. Never waits.
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

/// Fork handlers that make a fork wait for walks in progress.
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

/// Fork handler of the child: records whether another thread's walk was in progress, and resets the state.
fn child() {
    if WALKS.load(Ordering::SeqCst) > 0 {
        FORKED_IN_WALK.store(true, Ordering::Relaxed);
    }
    FORKING.store(false, Ordering::SeqCst);
}
