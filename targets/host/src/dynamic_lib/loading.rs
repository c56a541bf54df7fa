//! Synchronisation of forks with loading and unloading of libraries: each waits briefly for the
//! other.

use core::cell::Cell;
use core::time::Duration;

use ferrite_core::platform::sync::atomic::AtomicUsize;
use ferrite_core::platform::sync::fork::Hook;

use crate::fork_gate::ForkGate;

/// Gate of the calls to `dlopen` and `dlclose` on all threads.
static CALLS: ForkGate = ForkGate::new(AtomicUsize::new(0));

std::thread_local! {
    /// Number of calls to `dlopen` and `dlclose` in progress on this thread. More than one means
    /// that they are nested.
    static OWN_CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Maximum time that either side waits. Most libraries open in less than a millisecond.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Fork handlers that make a fork wait for calls to `dlopen` and `dlclose` in progress.
pub(crate) static LOADING_AT_FORK: Hook = Hook {
    prepare: || CALLS.prepare(OWN_CALLS.get(), LONGEST_WAIT),
    parent: || CALLS.parent(),
    child: || CALLS.child(OWN_CALLS.get()),
};

/// Runs `open`, which calls the dynamic linker. Waits for a fork in progress first, and makes later
/// forks wait.
pub(super) fn apart_from_forks<R>(open: impl FnOnce() -> R) -> R {
    struct OwnCall;
    impl Drop for OwnCall {
        fn drop(&mut self) {
            OWN_CALLS.set(OWN_CALLS.get() - 1);
        }
    }
    let outer = OWN_CALLS.get();
    CALLS.after_fork(outer > 0, LONGEST_WAIT, || {
        OWN_CALLS.set(outer + 1);
        let _call = OwnCall;
        open()
    })
}
