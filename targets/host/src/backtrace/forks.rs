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
use std::sync::Once;
use std::thread;
use std::time::Instant;

/// Walks at work, on all threads.
static WALKS: AtomicUsize = AtomicUsize::new(0);

/// Forks under way: several threads may fork at once.
static FORKS: AtomicUsize = AtomicUsize::new(0);

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
    if FORKS.load(Ordering::SeqCst) == 0 && !LOST.load(Ordering::Relaxed) {
        walk();
    }
}

/// Makes forks wait for walks. Without memory for the handlers they do not.
pub(super) fn install_once() {
    static INSTALLED: Once = Once::new();
    // SAFETY: the handlers may run on any thread, and in a new process.
    INSTALLED.call_once(|| unsafe {
        libc::pthread_atfork(Some(prepare), Some(parent), Some(child));
    });
}

unsafe extern "C" fn prepare() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    if LOST.load(Ordering::Relaxed) || WALKS.load(Ordering::SeqCst) == 0 {
        return;
    }
    let start = Instant::now();
    while WALKS.load(Ordering::SeqCst) > 0 && start.elapsed() < PATIENCE {
        thread::yield_now();
    }
}

unsafe extern "C" fn parent() {
    // There may be none: `prepare` was registered while this fork was under way, or it is a fork within a child's.
    let _ = FORKS.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |forks| forks.checked_sub(1));
}

/// The only thread of a new process: other threads that forked or walked are not in it.
unsafe extern "C" fn child() {
    if WALKS.load(Ordering::SeqCst) > 0 {
        LOST.store(true, Ordering::Relaxed);
    }
    FORKS.store(0, Ordering::SeqCst);
}
