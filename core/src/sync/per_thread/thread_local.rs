//! Per-thread state in std's thread-local storage.

extern crate std;

use super::ReleaseQueue;
use crate::abi::TVMFFIObject;
use core::cell::Cell;
use core::ptr;

/// Owns the error that its thread raised last, and releases it when the thread ends.
struct RaisedSlot(Cell<*mut TVMFFIObject>);

impl Drop for RaisedSlot {
    fn drop(&mut self) {
        let error = self.0.replace(ptr::null_mut());
        if !error.is_null() {
            // SAFETY: the slot owned one strong reference to the error, which it no longer names.
            unsafe { crate::release::release_object(error) };
        }
    }
}

std::thread_local! {
    // Without a destructor, so that it still works while other thread-local values are being destroyed.
    static QUEUE: ReleaseQueue = const { ReleaseQueue::new() };
    static RAISED: RaisedSlot = const { RaisedSlot(Cell::new(ptr::null_mut())) };
}

/// Lends this thread's queue of objects to destroy.
#[inline]
pub fn release_queue<R>(body: impl FnOnce(&ReleaseQueue) -> R) -> R {
    QUEUE.with(body)
}

/// Lends the slot of this thread's raised error, which owns a strong reference unless null.
///
/// `None` while the thread is ending and its slot is gone already.
#[inline]
pub fn with_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>) -> R) -> Option<R> {
    RAISED.try_with(|slot| body(&slot.0)).ok()
}
