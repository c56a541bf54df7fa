//! CUDA events: marks in streams, for which other streams and host threads wait.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::time::Duration;

use ferrite_core::error::Result;
use ferrite_core::plain_error;

use super::api::{self, Handle};
use super::device::Device;
use super::failure::{check_made, done, made};
use super::platform;

/// Creates an event.
///
/// # Errors
/// Errors of the driver; InternalError if it returns null.
pub(super) fn create(device: &Device, timing: bool) -> Result<NonNull<c_void>> {
    let _entered = device.enter()?;
    let flags = if timing { api::EVENT_DEFAULT } else { api::EVENT_DISABLE_TIMING };
    let mut event = ptr::null_mut();
    // SAFETY: the driver writes the handle.
    unsafe { made!(device.api, cuEventCreate(&mut event, flags))? };
    NonNull::new(event)
        .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The CUDA driver gave null for an event"))
}

/// Destroys an event. Streams that already wait for it still do.
///
/// # Safety
/// The event must come from [`create`], and must not be used afterwards.
pub(super) unsafe fn destroy(id: i32, event: NonNull<c_void>) {
    if let Ok(device) = platform::device(id) {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (device.api.cuEventDestroy_v2)(event.as_ptr()) };
    }
}

/// Records an event in a stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The event must belong to the device, and the stream must be null or belong to it.
pub(super) unsafe fn record(device: &Device, event: NonNull<c_void>, stream: Handle) -> Result<()> {
    let _entered = device.enter()?;
    // SAFETY: the caller's promise.
    unsafe { done!(device.api, cuEventRecord(event.as_ptr(), stream)) }
}

/// Makes a stream wait for an event.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device; the event may belong to any device.
pub(super) unsafe fn wait(device: &Device, event: NonNull<c_void>, stream: Handle) -> Result<()> {
    let _entered = device.enter()?;
    // SAFETY: the caller's promise; no flags are passed.
    unsafe { done!(device.api, cuStreamWaitEvent(stream, event.as_ptr(), 0)) }
}

/// Waits for an event.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The event must belong to the device.
pub(super) unsafe fn synchronize(device: &Device, event: NonNull<c_void>) -> Result<()> {
    let _entered = device.enter()?;
    // SAFETY: the caller's promise.
    unsafe { done!(device.api, cuEventSynchronize(event.as_ptr())) }
}

/// Returns the time between two events: zero if `end` came first, `None` if an event has no timing
/// or was not recorded.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// Both events must belong to the device and be complete.
pub(super) unsafe fn elapsed(
    device: &Device,
    start: NonNull<c_void>,
    end: NonNull<c_void>,
) -> Result<Option<Duration>> {
    let _entered = device.enter()?;
    let mut milliseconds = 0f32;
    // SAFETY: the caller's promise; the driver writes the number.
    let status =
        unsafe { (device.api.cuEventElapsedTime)(&mut milliseconds, start.as_ptr(), end.as_ptr()) };
    if status == api::INVALID_HANDLE {
        return Ok(None);
    }
    check_made(device.api, "cuEventElapsedTime", status)?;
    let seconds = f64::from(milliseconds.max(0.0)) / 1e3;
    Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or_default()))
}
