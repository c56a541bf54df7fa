//! ROCm streams.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::error::Result;
use ferrite_core::plain_error;

use super::api::{self, Handle};
use super::memory::{Memory, Pinned};
use super::platform::{OnDevice, on, on_to_release};
use crate::allocation::StreamDriver;

impl StreamDriver for OnDevice {
    unsafe fn is_recording(&self, stream: Handle) -> bool {
        let mut recording: c_int = 0;
        // SAFETY: the caller guarantees the stream; the driver writes the status.
        match unsafe { (self.api().hipStreamIsCapturing)(stream, &mut recording) } {
            api::SUCCESS => recording != 0,
            error => {
                // Clears HIP's last error.
                self.api().text(error);
                error == api::CAPTURE_IMPLICIT
            }
        }
    }

    fn create_event(&self, timing: bool) -> Result<NonNull<c_void>> {
        let flags = if timing { api::EVENT_DEFAULT } else { api::EVENT_WITHOUT_TIME };
        let mut event = ptr::null_mut();
        // SAFETY: the driver writes the event.
        let status = unsafe { (self.api().hipEventCreateWithFlags)(&mut event, flags) };
        self.api().check("hipEventCreateWithFlags", status)?;
        NonNull::new(event)
            .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The ROCm driver gave null for an event"))
    }

    unsafe fn destroy_event(&self, event: NonNull<c_void>) {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (self.api().hipEventDestroy)(event.as_ptr()) };
    }

    unsafe fn record(&self, event: NonNull<c_void>, stream: Handle) -> Result<()> {
        // SAFETY: the caller's promise.
        let status = unsafe { (self.api().hipEventRecord)(event.as_ptr(), stream) };
        self.api().check_done("hipEventRecord", status)
    }

    unsafe fn wait(&self, event: NonNull<c_void>, stream: Handle) -> Result<()> {
        // SAFETY: the caller's promise; no flags are passed.
        let status = unsafe { (self.api().hipStreamWaitEvent)(stream, event.as_ptr(), 0) };
        self.api().check_done("hipStreamWaitEvent", status)
    }

    fn finish(&self) -> Result<()> {
        // SAFETY: the device is current.
        let status = unsafe { (self.api().hipDeviceSynchronize)() };
        self.api().check_done("hipDeviceSynchronize", status)
    }
}

/// Creates a stream. It and the default stream wait for each other, as with TVM, unless it is for a
/// recording, during which other threads may use the default stream.
///
/// # Errors
/// Errors of the driver.
pub(super) fn create(id: i32, is_for_recording: bool) -> Result<Handle> {
    let device = on(id)?;
    let flags = if is_for_recording { api::STREAM_NON_BLOCKING } else { api::STREAM_DEFAULT };
    let mut stream = ptr::null_mut();
    // SAFETY: the driver writes the stream.
    let status = unsafe { (device.api().hipStreamCreateWithFlags)(&mut stream, flags) };
    device.api().check("hipStreamCreateWithFlags", status)?;
    let added = device.pool().streams.add(stream);
    if added.is_err() {
        // SAFETY: the stream is new, and nobody has its handle.
        unsafe { (device.api().hipStreamDestroy)(stream) };
    }
    added.map(|()| stream)
}

/// Destroys a stream. Has no effect on the default stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// `stream` must be null or belong to the device, and must not be used afterwards.
pub(super) unsafe fn destroy(id: i32, stream: Handle) -> Result<()> {
    let device = on_to_release(id).map_or_else(|| on(id), Ok)?;
    if stream.is_null() {
        return Ok(());
    }
    let state = device.device;
    // SAFETY: the caller's promise.
    unsafe { state.pool.streams.remove(&device, stream) };
    state.workspaces.forget(&Memory { id }, stream);
    state.pinned_workspaces.forget(&Pinned { id }, stream);
    // SAFETY: the caller's promise.
    device.api().check_done("hipStreamDestroy", unsafe { (device.api().hipStreamDestroy)(stream) })
}

/// Waits for a stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// `stream` must be null or belong to the device.
pub(super) unsafe fn synchronize(id: i32, stream: Handle) -> Result<()> {
    let device = on(id)?;
    // SAFETY: the caller's promise.
    device
        .api()
        .check_done("hipStreamSynchronize", unsafe { (device.api().hipStreamSynchronize)(stream) })
}
