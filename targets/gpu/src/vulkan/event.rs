//! Events: places in the queue of a device, told by the number of a batch.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

use ferrite_core::error::Result;

use super::device::Device;
use super::failure::Outcome;
use crate::owned::Owned;

/// An event. It is over when the batch is done in which it was recorded, and tells no time.
pub(super) struct Event {
    device: &'static Device,
    /// The batch of the last record; 0, which is done from the start, without one.
    batch: AtomicU64,
}

impl Event {
    /// Makes an event without a record.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn create(device: &'static Device) -> Result<NonNull<c_void>> {
        Ok(Owned::new(Event { device, batch: AtomicU64::new(0) })?.into_raw().cast())
    }

    /// Frees an event.
    ///
    /// # Safety
    /// It must come from [`create`](Event::create), and not be used afterwards.
    pub(super) unsafe fn free(event: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        drop(unsafe { Owned::<Event>::from_raw(event.cast()) });
    }

    /// The event behind a handle.
    ///
    /// # Safety
    /// The handle must come from [`create`](Event::create), and be in use for `'a`.
    pub(super) unsafe fn from_handle<'a>(event: NonNull<c_void>) -> &'a Event {
        // SAFETY: the caller's promise.
        unsafe { event.cast().as_ref() }
    }

    /// Takes down the place that the queue has reached.
    pub(super) fn record(&self) {
        self.batch.store(self.device.queue().last(), Ordering::Release);
    }

    /// Makes what is queued on `device` from now on wait. The queue of the event's own device is in order; for another one, this
    /// thread waits.
    pub(super) fn hold_back(&self, device: &Device) -> Outcome<()> {
        if ptr::eq(self.device, device) { Ok(()) } else { self.synchronize() }
    }

    /// Waits until everything is done that was queued before the record.
    pub(super) fn synchronize(&self) -> Outcome<()> {
        self.device.wait_for(self.batch.load(Ordering::Acquire))
    }
}
