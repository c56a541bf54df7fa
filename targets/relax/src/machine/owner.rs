//! The thread that uses a machine: one at a time, which may nest uses.

use core::cell::Cell;

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::sync::current_thread;

/// The thread that uses a machine, and how often.
pub(super) struct Owner {
    #[cfg(target_has_atomic = "ptr")]
    thread: core::sync::atomic::AtomicUsize,
    /// Used by the owner only.
    depth: Cell<usize>,
}

// SAFETY: `depth` is used by the thread that `thread` names only. Builds that cannot tell threads apart have one.
unsafe impl Sync for Owner {}

impl Owner {
    pub(super) const fn new() -> Owner {
        Owner {
            #[cfg(target_has_atomic = "ptr")]
            thread: core::sync::atomic::AtomicUsize::new(0),
            depth: Cell::new(0),
        }
    }

    /// Begins a use by this thread, unless another one uses the machine.
    #[inline]
    pub(super) fn enter(&self) -> Result<()> {
        #[cfg(target_has_atomic = "ptr")]
        {
            use core::sync::atomic::Ordering;
            let here = current_thread().map_or(usize::MAX, core::num::NonZeroUsize::get);
            if self.thread.load(Ordering::Relaxed) != here
                && self.thread.compare_exchange(0, here, Ordering::Acquire, Ordering::Relaxed).is_err()
            {
                return in_use();
            }
        }
        #[cfg(not(target_has_atomic = "ptr"))]
        let _ = (current_thread, in_use);
        self.depth.set(self.depth.get() + 1);
        Ok(())
    }

    /// Ends a use.
    #[inline]
    pub(super) fn leave(&self) {
        let depth = self.depth.get() - 1;
        self.depth.set(depth);
        #[cfg(target_has_atomic = "ptr")]
        if depth == 0 {
            self.thread.store(0, core::sync::atomic::Ordering::Release);
        }
    }

    /// The number of nested uses, asked by the owner.
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
