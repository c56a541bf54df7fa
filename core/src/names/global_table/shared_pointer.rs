//! A shared pointer with lock-free readers, which are counted while they retain its target.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use crate::platform::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::platform::sync::is_single_threaded;

/// A nullable pointer that owns one reference to its target.
pub(super) struct SharedPointer<T> {
    pointer: AtomicPtr<T>,
    /// Number of readers that may be about to retain the target.
    readers: AtomicUsize,
}

impl<T> SharedPointer<T> {
    pub(super) fn new(pointer: *mut T) -> Self {
        SharedPointer { pointer: AtomicPtr::new(pointer), readers: AtomicUsize::new(0) }
    }

    /// Loads the pointer and calls `retain` on its target, which stays alive until `retain`
    /// returns.
    ///
    /// Counting the reader and [`is_quiescent`](Self::is_quiescent) are both read-modify-write
    /// operations on `readers`, so they are ordered: either the writer sees this reader, or this
    /// reader sees the pointer that the writer stored before.
    #[inline]
    pub(super) fn load(&self, retain: impl FnOnce(NonNull<T>)) -> Option<NonNull<T>> {
        let announces = !is_single_threaded();
        if announces {
            self.readers.fetch_add(1, Ordering::Acquire);
        }
        let pointer = NonNull::new(self.pointer.load(Ordering::Acquire));
        pointer.map(retain);
        if announces {
            self.readers.fetch_sub(1, Ordering::Release);
        }
        pointer
    }

    /// Returns `true` if the pointer is not null.
    pub(super) fn is_set(&self) -> bool {
        // Relaxed: nothing is read through the pointer.
        !self.pointer.load(Ordering::Relaxed).is_null()
    }

    /// Replaces the pointer and returns the previous one. The caller owns the reference of the
    /// previous pointer, and must keep it until [`is_quiescent`](Self::is_quiescent) has returned
    /// `true` once.
    pub(super) fn exchange(&self, pointer: *mut T) -> *mut T {
        self.pointer.swap(pointer, Ordering::AcqRel)
    }

    /// Resets the reader count after a fork: the child process does not have the threads of the
    /// parent's readers.
    #[allow(dead_code, reason = "only hosts fork")]
    pub(super) fn forget_readers(&self) {
        // Written only if needed, so that the page stays shared with the parent.
        if self.readers.load(Ordering::Relaxed) != 0 {
            self.readers.store(0, Ordering::Relaxed);
        }
    }

    /// Returns `true` if no reader can still be about to retain a target that was removed before
    /// this call.
    pub(super) fn is_quiescent(&self) -> bool {
        // Adding zero is a read-modify-write, ordered with announcements as a load would not be.
        self.readers.fetch_add(0, Ordering::AcqRel) == 0
    }
}
