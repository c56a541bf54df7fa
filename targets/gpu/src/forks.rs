//! Drivers do not survive a fork: in the child of a process that opened one, its handles are those of threads and mappings that
//! are gone. So every use of a device there is an error, and nothing is freed.

use core::sync::atomic::{AtomicBool, Ordering};

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::sync::fork::{AtFork, Hook, Ring, enlist};

/// Whether a driver was opened, or its opening began.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether this process is the child of one that had opened a driver.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

static CHILD: Hook = Hook::in_child(|| {
    if IN_USE.load(Ordering::Relaxed) {
        IS_CHILD.store(true, Ordering::Relaxed);
    }
});

/// Locks that are taken while a driver is opened need not be held across a fork: the child never takes them.
static PARTS: &[&dyn AtFork] = &[&CHILD];

/// Makes children of forks know.
pub(crate) fn install() {
    enlist(Ring::Gpu, PARTS);
}

/// Tells that a driver is about to be opened.
///
/// # Errors
/// As [`check`].
pub fn begin_use() -> Result<()> {
    check()?;
    IN_USE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether devices cannot be used, since they belong to the parent process.
#[inline]
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// Refuses the use of devices in the child of a process that used some.
///
/// # Errors
/// RuntimeError.
#[inline]
pub fn check() -> Result<()> {
    plain_ensure!(
        !is_child(),
        RUNTIME_ERROR,
        "Devices cannot be used in a forked process whose parent used one before the fork: start a new process instead"
    );
    Ok(())
}
