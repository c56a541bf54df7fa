//! A pointer that readers share without a lock: they announce themselves while they retain what they see.
#![forbid(unsafe_code)]

use core::ptr::NonNull;

use crate::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use crate::sync::is_single_threaded;

/// A pointer that owns one reference to what it points to, or null.
pub(super) struct SharedPointer<T> {
    pointer: AtomicPtr<T>,
    /// Readers between announcing themselves and having retained what they saw.
    readers: AtomicUsize,
}

impl<T> SharedPointer<T> {
    pub(super) fn new(pointer: *mut T) -> Self {
        SharedPointer { pointer: AtomicPtr::new(pointer), readers: AtomicUsize::new(0) }
    }

    /// Loads the pointer and retains what it points to, which stays alive until `retain` is done.
    ///
    /// Announcing and [`is_quiescent`](Self::is_quiescent) both read and write `readers` in one step, so one of them
    /// comes first and the other sees it: either the writer sees this reader, or this reader sees the pointer
    /// that the writer put in before it looked.
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

    /// Whether the pointer is not null.
    pub(super) fn is_set(&self) -> bool {
        !self.pointer.load(Ordering::Acquire).is_null()
    }

    /// Puts another pointer in. The reference of the old one is the caller's, who keeps it until
    /// [`is_quiescent`](Self::is_quiescent) has been true once.
    pub(super) fn exchange(&self, pointer: *mut T) -> *mut T {
        self.pointer.swap(pointer, Ordering::AcqRel)
    }

    /// Forgets readers that a fork left behind: a child does not have the threads that were about to retain something.
    #[allow(dead_code, reason = "only hosts fork")]
    pub(super) fn forget_readers(&self) {
        // What nobody announced is not written, so that the page stays shared with the parent.
        if self.readers.load(Ordering::Relaxed) != 0 {
            self.readers.store(0, Ordering::Relaxed);
        }
    }

    /// Whether no reader may still be about to retain what was taken out before this call.
    pub(super) fn is_quiescent(&self) -> bool {
        // Adding nothing is still a step in the order of announcements, which a load would not be.
        self.readers.fetch_add(0, Ordering::AcqRel) == 0
    }
}
