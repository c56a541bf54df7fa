//! Storage for the guard of a mutex while the process forks.

use core::cell::UnsafeCell;

/// Storage for a mutex's guard while the process forks.
pub(super) struct AcrossFork<G>(UnsafeCell<Option<G>>);

// SAFETY: only used between `prepare` and `parent` or `child`, by the forking thread, which holds
// the mutex.
unsafe impl<G> Sync for AcrossFork<G> {}
// SAFETY: a mutex that can be moved is not borrowed forever, so no guard is stored.
unsafe impl<G> Send for AcrossFork<G> {}

impl<G> AcrossFork<G> {
    pub(super) const fn new() -> Self {
        Self(UnsafeCell::new(None))
    }

    pub(super) fn keep(&'static self, guard: G) {
        // SAFETY: `guard` belongs to the mutex of this field, so this thread has exclusive access.
        unsafe { *self.0.get() = Some(guard) };
    }

    /// Returns the guard that was stored before the fork.
    ///
    /// # Safety
    /// This thread must have stored a guard here.
    pub(super) unsafe fn take(&'static self) -> Option<G> {
        // SAFETY: the caller's promise: the thread holds the mutex.
        unsafe { (*self.0.get()).take() }
    }
}
