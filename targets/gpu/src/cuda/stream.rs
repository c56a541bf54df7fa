//! CUDA streams.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::env::stream;
use ferrite_core::error::Result;
use ferrite_core::plain_error;
use ferrite_core::value::device::kind;

use super::api::{self, Handle};
use super::device::Device;
use super::failure::{done, made};
use crate::allocation::StreamDriver;

/// Returns the calling thread's stream for a device; null is the default stream.
#[inline]
pub(super) fn current(id: i32) -> Handle {
    stream::get(stream::DeviceKey::new(kind::CUDA, id))
}

impl StreamDriver for Device {
    unsafe fn is_recording(&self, stream: Handle) -> bool {
        let mut status = 0;
        // SAFETY: the caller guarantees the stream; the driver writes the status.
        match unsafe { (self.api.cuStreamIsCapturing)(stream, &mut status) } {
            api::SUCCESS => status != 0,
            error => error == api::CAPTURE_IMPLICIT,
        }
    }

    fn create_event(&self, timing: bool) -> Result<NonNull<c_void>> {
        let flags = if timing { api::EVENT_DEFAULT } else { api::EVENT_DISABLE_TIMING };
        let mut event = ptr::null_mut();
        // SAFETY: the driver writes the handle.
        unsafe { made!(self.api, cuEventCreate(&mut event, flags))? };
        NonNull::new(event)
            .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The CUDA driver gave null for an event"))
    }

    unsafe fn destroy_event(&self, event: NonNull<c_void>) {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (self.api.cuEventDestroy_v2)(event.as_ptr()) };
    }

    unsafe fn record(&self, event: NonNull<c_void>, stream: Handle) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { done!(self.api, cuEventRecord(event.as_ptr(), stream)) }
    }

    unsafe fn wait(&self, event: NonNull<c_void>, stream: Handle) -> Result<()> {
        // SAFETY: the caller's promise; no flags are passed.
        unsafe { done!(self.api, cuStreamWaitEvent(stream, event.as_ptr(), 0)) }
    }

    fn finish(&self) -> Result<()> {
        // SAFETY: the context is current.
        unsafe { done!(self.api, cuCtxSynchronize()) }
    }
}

/// Creates a stream that does not synchronise with the default stream.
///
/// # Errors
/// Errors of the driver.
pub(super) fn create(device: &Device) -> Result<Handle> {
    let _entered = device.enter()?;
    let mut stream = ptr::null_mut();
    // SAFETY: the driver writes the handle.
    unsafe { made!(device.api, cuStreamCreate(&mut stream, api::STREAM_NON_BLOCKING))? };
    let added = device.pool.streams.add(stream);
    if added.is_err() {
        // SAFETY: the stream is new, and nobody has its handle.
        unsafe { (device.api.cuStreamDestroy_v2)(stream) };
    }
    added.map(|()| stream)
}

/// Destroys a stream. Commands queued on it still run. Does nothing for the default stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device, and must not be used afterwards.
pub(super) unsafe fn free(device: &Device, stream: Handle) -> Result<()> {
    if stream.is_null() {
        return Ok(());
    }
    let _entered = device.enter_to_release();
    // SAFETY: the caller's promise.
    unsafe { device.pool.streams.remove(device, stream) };
    device.workspaces.forget(device, stream);
    // SAFETY: the caller's promise.
    unsafe { done!(device.api, cuStreamDestroy_v2(stream)) }
}
