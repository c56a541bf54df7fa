//! Synchronisation of forks and stack walks: a fork waits briefly for walks in progress, and no
//! walk begins during a fork.
//!
//! A walk takes locks of other libraries: those of the dynamic linker and of the debug information
//! reader. If another thread held one during the fork, the child would deadlock at its first error.
//!
//! Neither side may wait indefinitely. The program may hold a lock of its own while it raises an
//! error, and one of its fork handlers may take the same lock after the fork handler of this
//! library has run. So a walk never waits: errors raised during a fork have no frames. A fork waits
//! up to [`LONGEST_WAIT`]. If a child is forked during another thread's walk nevertheless, the
//! child performs no walks.

use core::time::Duration;

use ferrite_core::platform::sync::atomic::AtomicUsize;
use ferrite_core::platform::sync::fork::Hook;

use crate::fork_gate::ForkGate;

/// Gate of the walks on all threads.
static WALKS: ForkGate = ForkGate::new(AtomicUsize::new(0));

/// Maximum time that a fork waits for walks. A walk takes a few milliseconds if it reads symbol
/// tables, otherwise microseconds.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Runs `walk`, unless a fork is in progress or this process was forked during a walk. Never waits.
pub(super) fn unless_forking(walk: impl FnOnce()) {
    WALKS.unless_forking(walk);
}

/// Fork handlers that make a fork wait for walks in progress.
pub(crate) static WALKS_AT_FORK: Hook = Hook {
    prepare: || WALKS.prepare(0, LONGEST_WAIT),
    parent: || WALKS.parent(),
    child: || WALKS.child_without_calls(),
};
