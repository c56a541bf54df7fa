//! Vulkan events: positions in the queue of a device, identified by batch numbers.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

use ferrite_core::error::Result;

use super::device::Device;
use super::failure::Outcome;
use crate::owned::Owned;

/// A Vulkan event: complete when the batch in which it was recorded is done. It has no timestamps.
pub(super) struct Event {
    device: &'static Device,
    /// Batch of the last record. Before the first record it is 0, a batch that always counts as
    /// done.
    batch: AtomicU64,
}

impl Event {
    /// Creates an event that is not recorded yet.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn create(device: &'static Device) -> Result<NonNull<c_void>> {
        Ok(Owned::new(Event { device, batch: AtomicU64::new(0) })?.into_raw().cast())
    }

    /// Frees an event.
    ///
    /// # Safety
    /// The event must come from [`create`](Event::create), and must not be used afterwards.
    pub(super) unsafe fn free(event: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        drop(unsafe { Owned::<Event>::from_raw(event.cast()) });
    }

    /// Returns the event behind a handle.
    ///
    /// # Safety
    /// The handle must come from [`create`](Event::create), and must stay live for `'a`.
    pub(super) unsafe fn from_handle<'a>(event: NonNull<c_void>) -> &'a Event {
        // SAFETY: the caller's promise.
        unsafe { event.cast().as_ref() }
    }

    /// Records the current position of the queue.
    pub(super) fn record(&self) {
        self.batch.store(self.device.queue().last(), Ordering::Release);
    }

    /// Makes commands queued on `device` from now on wait for the event. On the event's own device,
    /// the in-order queue ensures this. For another device, the calling thread waits.
    pub(super) fn hold_back(&self, device: &Device) -> Outcome<()> {
        if ptr::eq(self.device, device) { Ok(()) } else { self.synchronize() }
    }

    /// Waits until all commands queued before the record are complete.
    pub(super) fn synchronize(&self) -> Outcome<()> {
        self.device.wait_for(self.batch.load(Ordering::Acquire))
    }
}
