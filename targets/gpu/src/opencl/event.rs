//! Events: markers in the queue of a device.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::error::Result;

use super::api;
use super::device::Device;
use super::failure;
use crate::forks;
use crate::owned::Owned;

/// An event. The queue has no profiling, so it tells no time.
pub(super) struct Event {
    device: &'static Device,
    /// The `cl_event` of the last record, or null.
    marker: AtomicPtr<c_void>,
}

impl Event {
    /// Makes an event without a record.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn create(device: &'static Device) -> Result<NonNull<c_void>> {
        let event = Event { device, marker: AtomicPtr::new(ptr::null_mut()) };
        Ok(Owned::new(event)?.into_raw().cast())
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

    /// Queues a marker, which takes the place of the last one.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn record(&self) -> Result<()> {
        let api = self.device.api;
        let mut marker = ptr::null_mut();
        // SAFETY: without a list, the marker waits for everything that was queued before.
        failure::check(unsafe {
            (api.clEnqueueMarkerWithWaitList)(self.device.queue, 0, ptr::null(), &mut marker)
        })?;
        self.release(self.marker.swap(marker, Ordering::AcqRel));
        Ok(())
    }

    /// Makes what is queued on `device` from now on wait. The queue of the event's own device is in order; those of others share
    /// no context with it, so this thread waits for them.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn hold_back(&self, device: &Device) -> Result<()> {
        if ptr::eq(self.device, device) { Ok(()) } else { self.synchronize() }
    }

    /// Waits until the marker is reached.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn synchronize(&self) -> Result<()> {
        forks::check()?;
        let marker = self.marker.load(Ordering::Acquire);
        if marker.is_null() {
            return Ok(());
        }
        // SAFETY: the event is ours, and nobody records it meanwhile.
        failure::check(unsafe { (self.device.api.clWaitForEvents)(1, &marker) })
    }

    fn release(&self, marker: api::Handle) {
        if !marker.is_null() && !forks::is_child() {
            // SAFETY: the marker is ours. Errors do not matter here.
            unsafe { (self.device.api.clReleaseEvent)(marker) };
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let marker = *self.marker.get_mut();
        self.release(marker);
    }
}
