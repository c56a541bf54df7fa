//! Synchronisation of forks with loading and unloading of libraries: each waits briefly for the other.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::thread;
use std::time::Instant;

use ferrite_core::sync::fork::Hook;

/// Number of calls to `dlopen` and `dlclose` in progress, on all threads.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Whether a fork is in progress.
static FORKING: AtomicBool = AtomicBool::new(false);

std::thread_local! {
    /// Number of calls to `dlopen` and `dlclose` in progress on this thread. More than one means that they are nested.
    static OWN_CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Maximum time that either side waits. Most libraries open in less than a millisecond.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Fork handlers that make a fork wait for calls to `dlopen` and `dlclose` in progress.
pub(crate) static LOADING_AT_FORK: Hook = Hook { prepare, parent, child };

/// Runs `open`, which calls the dynamic linker. Waits for a fork in progress first, and makes later forks wait.
pub(super) fn apart_from_forks<R>(open: impl FnOnce() -> R) -> R {
    struct Call;
    impl Drop for Call {
        fn drop(&mut self) {
            OWN_CALLS.set(OWN_CALLS.get() - 1);
            CALLS.fetch_sub(1, Ordering::Release);
        }
    }
    // A call increments its counter before it checks for forks, and a fork sets its flag before it checks for calls: at least
    // one sees the other.
    CALLS.fetch_add(1, Ordering::SeqCst);
    let outer = OWN_CALLS.replace(OWN_CALLS.get() + 1);
    let _call = Call;
    // A fork may be waiting for an outer call of this thread, so a nested call does not wait.
    while outer == 0 && FORKING.load(Ordering::SeqCst) {
        CALLS.fetch_sub(1, Ordering::SeqCst);
        let is_over = wait_while(|| FORKING.load(Ordering::SeqCst));
        CALLS.fetch_add(1, Ordering::SeqCst);
        if !is_over {
            break;
        }
    }
    open()
}

fn prepare() {
    FORKING.store(true, Ordering::SeqCst);
    let own = OWN_CALLS.get();
    wait_while(|| CALLS.load(Ordering::SeqCst) > own);
}

fn parent() {
    FORKING.store(false, Ordering::SeqCst);
}

/// Fork handler of the child: forgets calls in progress on other threads, which do not exist in the child.
fn child() {
    CALLS.store(OWN_CALLS.get(), Ordering::SeqCst);
    FORKING.store(false, Ordering::SeqCst);
}

/// Waits until `busy` returns `false`. Returns `false` if that takes longer than [`LONGEST_WAIT`].
fn wait_while(busy: impl Fn() -> bool) -> bool {
    if !busy() {
        return true;
    }
    let start = Instant::now();
    while busy() {
        if start.elapsed() > LONGEST_WAIT {
            return false;
        }
        thread::yield_now();
    }
    true
}
