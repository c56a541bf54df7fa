//! Forks and the opening of libraries: a fork waits a moment for those that are being opened or closed, and none begins until
//! it is over.
//!
//! The dynamic linker changes its lists in several steps. Its locks are reset in a child, or not, but what a thread had half
//! done there stays half done. Opening runs initialisers of users, which may take long, wait for what the forking thread
//! holds, or fork: so neither side waits without end, nor a thread for itself.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use ferrite_core::sync::fork::Hook;

/// Libraries that are being opened or closed, on all threads.
static OPENINGS: AtomicUsize = AtomicUsize::new(0);

/// Whether a fork is under way.
static FORKING: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    /// Those of this thread, inside one another.
    static OWN_OPENINGS: Cell<usize> = const { Cell::new(0) };
}

/// The longest that either side waits. Most libraries open in less than a millisecond.
const PATIENCE: Duration = Duration::from_millis(200);

/// Makes forks wait for openings.
pub(crate) static LOADING_AT_FORK: Hook = Hook { prepare, parent, child };

/// Runs `open`, which calls the dynamic linker, unless the process forks at the moment: after that.
pub(super) fn apart_from_forks<R>(open: impl FnOnce() -> R) -> R {
    struct Opening;
    impl Drop for Opening {
        fn drop(&mut self) {
            OWN_OPENINGS.set(OWN_OPENINGS.get() - 1);
            OPENINGS.fetch_sub(1, Ordering::Release);
        }
    }
    // An opening is announced before it looks for forks, and a fork before it looks for openings: one sees the other.
    OPENINGS.fetch_add(1, Ordering::SeqCst);
    let outer = OWN_OPENINGS.replace(OWN_OPENINGS.get() + 1);
    let _opening = Opening;
    // A fork that waits for an outer opening of this thread is not waited for.
    while outer == 0 && FORKING.load(Ordering::SeqCst) {
        OPENINGS.fetch_sub(1, Ordering::SeqCst);
        let is_over = wait_while(|| FORKING.load(Ordering::SeqCst));
        OPENINGS.fetch_add(1, Ordering::SeqCst);
        if !is_over {
            break;
        }
    }
    open()
}

fn prepare() {
    FORKING.store(true, Ordering::SeqCst);
    let own = OWN_OPENINGS.get();
    wait_while(|| OPENINGS.load(Ordering::SeqCst) > own);
}

fn parent() {
    FORKING.store(false, Ordering::SeqCst);
}

/// The only thread of a new process: what others were opening stays as it is.
fn child() {
    OPENINGS.store(OWN_OPENINGS.get(), Ordering::SeqCst);
    FORKING.store(false, Ordering::SeqCst);
}

/// Waits until it is over; false when that takes too long.
fn wait_while(busy: impl Fn() -> bool) -> bool {
    if !busy() {
        return true;
    }
    let start = Instant::now();
    while busy() {
        if start.elapsed() > PATIENCE {
            return false;
        }
        thread::yield_now();
    }
    true
}
