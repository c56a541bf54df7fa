//! WebGPU events: queue submissions that must complete. They have no timestamps.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;

use super::device::Device;
use crate::forks;
use crate::owned::Owned;

/// A WebGPU event: its last record, or `None` before the first one.
pub(super) struct Event(Mutex<Option<Record>>);

/// A position in the queue of a device.
#[derive(Clone)]
struct Record {
    device: &'static Device,
    submission: wgpu::SubmissionIndex,
}

impl Event {
    /// Creates an event that is not recorded yet.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn create() -> Result<NonNull<c_void>> {
        Ok(Owned::new(Event(Mutex::new(None)))?.into_raw().cast())
    }

    /// Returns the event behind a handle.
    ///
    /// # Safety
    /// The handle must come from [`create`](Event::create), and must stay live for `'a`.
    pub(super) unsafe fn of<'a>(handle: NonNull<c_void>) -> &'a Event {
        // SAFETY: the caller's promise.
        unsafe { handle.cast().as_ref() }
    }

    /// Frees an event.
    ///
    /// # Safety
    /// The handle must come from [`create`](Event::create), and must not be used afterwards.
    pub(super) unsafe fn free(handle: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        drop(unsafe { Owned::<Event>::from_raw(handle.cast()) });
    }

    fn recorded(&self) -> MutexGuard<'_, Option<Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the event: it completes after all commands queued on the device so far.
    ///
    /// # Errors
    /// RuntimeError if the device is lost.
    pub(super) fn record(&self, device: &'static Device) -> Result<()> {
        let submission = device.reports.of(|| device.queue.submit([]))?;
        *self.recorded() = Some(Record { device, submission });
        Ok(())
    }

    /// Makes the queue of a device wait for the event. On the event's own device, the in-order
    /// queue ensures this. For another device, the calling thread waits.
    ///
    /// # Errors
    /// Same errors as [`wait`](Event::wait).
    pub(super) fn order(&self, device: &'static Device) -> Result<()> {
        let is_elsewhere =
            self.recorded().as_ref().is_some_and(|record| !core::ptr::eq(record.device, device));
        if is_elsewhere { self.wait() } else { Ok(()) }
    }

    /// Waits until the event is complete.
    ///
    /// # Errors
    /// RuntimeError if the device is lost, and in a forked child.
    pub(super) fn wait(&self) -> Result<()> {
        forks::check()?;
        let record = self.recorded().clone();
        record.map_or(Ok(()), |record| record.device.wait(Some(record.submission)))
    }
}
