//! OpenCL events: markers in the queue of a device.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::error::Result;

use super::api;
use super::device::Device;
use super::failure;
use crate::forks;
use crate::owned::Owned;

/// An OpenCL event: the marker of its last record. It has no timestamps, because the queue is
/// created without profiling.
pub(super) struct Event {
    device: &'static Device,
    /// `cl_event` of the last record; null before the first one.
    marker: AtomicPtr<c_void>,
}

impl Event {
    /// Creates an event that is not recorded yet.
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

    /// Queues a marker, which replaces the marker of the previous record.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn record(&self) -> Result<()> {
        let api = self.device.api;
        let mut marker = ptr::null_mut();
        // SAFETY: without a wait list, the marker waits for all commands queued before.
        failure::check(unsafe {
            (api.clEnqueueMarkerWithWaitList)(self.device.queue, 0, ptr::null(), &mut marker)
        })?;
        self.release(self.marker.swap(marker, Ordering::AcqRel));
        Ok(())
    }

    /// Makes commands queued on `device` from now on wait for the event. On the event's own device,
    /// the in-order queue ensures this. Other devices have other contexts, so the calling thread
    /// waits for the event.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn hold_back(&self, device: &Device) -> Result<()> {
        if ptr::eq(self.device, device) { Ok(()) } else { self.synchronize() }
    }

    /// Waits until all commands queued before the record are complete.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn synchronize(&self) -> Result<()> {
        forks::check()?;
        let marker = self.marker.load(Ordering::Acquire);
        if marker.is_null() {
            return Ok(());
        }
        // SAFETY: the event is owned, and no other thread records it meanwhile.
        failure::check(unsafe { (self.device.api.clWaitForEvents)(1, &marker) })
    }

    fn release(&self, marker: api::Handle) {
        if !marker.is_null() && !forks::is_child() {
            // SAFETY: the marker is owned. Errors are ignored.
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
