//! Ownership of a machine by one thread at a time, which may enter it recursively.

use core::cell::Cell;

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::sync::current_thread;

/// The thread that uses a machine, and its number of nested uses.
pub(super) struct Owner {
    #[cfg(target_has_atomic = "ptr")]
    thread: core::sync::atomic::AtomicUsize,
    /// Accessed only by the owning thread.
    depth: Cell<usize>,
}

// SAFETY: `depth` is used by the thread that `thread` names only. Builds that cannot tell threads
// apart have one.
unsafe impl Sync for Owner {}

impl Owner {
    pub(super) const fn new() -> Owner {
        Owner {
            #[cfg(target_has_atomic = "ptr")]
            thread: core::sync::atomic::AtomicUsize::new(0),
            depth: Cell::new(0),
        }
    }

    /// Begins a use by this thread. Returns an error if another thread uses the machine.
    #[inline]
    pub(super) fn enter(&self) -> Result<()> {
        #[cfg(target_has_atomic = "ptr")]
        {
            use core::sync::atomic::Ordering;
            let here = current_thread().map_or(usize::MAX, core::num::NonZeroUsize::get);
            if self.thread.load(Ordering::Relaxed) != here
                && self
                    .thread
                    .compare_exchange(0, here, Ordering::Acquire, Ordering::Relaxed)
                    .is_err()
            {
                return in_use();
            }
        }
        #[cfg(not(target_has_atomic = "ptr"))]
        let _ = (current_thread, in_use);
        self.depth.set(self.depth.get() + 1);
        Ok(())
    }

    /// Ends a use by this thread.
    #[inline]
    pub(super) fn leave(&self) {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        #[cfg(target_has_atomic = "ptr")]
        if depth == 0 {
            self.thread.store(0, core::sync::atomic::Ordering::Release);
        }
    }

    /// Returns the number of nested uses. Called only by the owning thread.
    pub(super) fn depth(&self) -> usize {
        self.depth.get()
    }
}

#[cold]
fn in_use() -> Result<()> {
    plain_bail!(
        RUNTIME_ERROR,
        "Another thread is using this virtual machine: each thread needs a machine of its own, made by vm_load_executable"
    )
}
