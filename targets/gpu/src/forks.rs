//! Fork protection of GPU drivers. In the child of a process that opened a driver, the driver's
//! handles refer to threads and mappings that no longer exist. So every use of a device fails
//! there, and nothing is freed. Without `std` there are no processes, so nothing sets the flags.

use core::sync::atomic::{AtomicBool, Ordering};

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
#[cfg(feature = "std")]
use ferrite_core::platform::sync::fork::{AtFork, Hook, Ring, enlist};

/// Whether a driver was opened, or is being opened.
static IN_USE: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from a process that had opened a driver.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

#[cfg(feature = "std")]
static CHILD: Hook = Hook::in_child(|| {
    if IN_USE.load(Ordering::Relaxed) {
        IS_CHILD.store(true, Ordering::Relaxed);
    }
});

/// Fork handlers of this crate, in locking order.
///
/// Locks of drivers and devices are not among them: [`begin_use`] comes before each of them is
/// first taken, and [`check`] before each later use, so that the child of a process that may hold
/// one gets an error instead of waiting for it. Module state that needs no driver is set without a
/// lock or behind an [`ObjectMutex`](ferrite_core::platform::sync::ObjectMutex).
#[cfg(feature = "std")]
static PARTS: &[&dyn AtFork] = &[
    &CHILD,
    #[cfg(feature = "cuda")]
    &crate::cuda::NVRTC_OPENING,
];

/// Registers the fork handler.
#[cfg(feature = "std")]
pub(crate) fn install() {
    enlist(Ring::Gpu, PARTS);
}

/// Records that a driver is about to be opened.
///
/// # Errors
/// Same errors as [`check`].
pub fn begin_use() -> Result<()> {
    check()?;
    IN_USE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Returns `true` if devices belong to the parent process and cannot be used.
#[inline]
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// Returns an error in a forked child whose parent had opened a driver.
///
/// # Errors
/// RuntimeError in such a child.
#[inline]
pub fn check() -> Result<()> {
    plain_ensure!(
        !is_child(),
        RUNTIME_ERROR,
        "Devices cannot be used in a forked process whose parent used one before the fork: start a new process instead"
    );
    Ok(())
}
