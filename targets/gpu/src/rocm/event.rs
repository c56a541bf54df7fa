//! ROCm events: marks in streams, for which other streams and host threads wait.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::time::Duration;

use ferrite_core::error::Result;
use ferrite_core::plain_error;

use super::api::{self, Handle};
use super::platform::{on, platform};

/// Creates an event.
///
/// # Errors
/// Errors of the driver; InternalError if it returns null.
pub(super) fn create(id: i32, timing: bool) -> Result<NonNull<c_void>> {
    let device = on(id)?;
    let flags = if timing { api::EVENT_DEFAULT } else { api::EVENT_WITHOUT_TIME };
    let mut event = ptr::null_mut();
    // SAFETY: the driver writes the event.
    let status = unsafe { (device.api().hipEventCreateWithFlags)(&mut event, flags) };
    device.api().check("hipEventCreateWithFlags", status)?;
    NonNull::new(event)
        .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The ROCm driver gave null for an event"))
}

/// Destroys an event. Streams that already wait for it still do.
///
/// # Safety
/// The event must come from [`create`], and must not be used afterwards.
pub(super) unsafe fn destroy(event: NonNull<c_void>) {
    if let Ok(platform) = platform() {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (platform.api.hipEventDestroy)(event.as_ptr()) };
    }
}

/// Records an event in a stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The event must belong to the device, and the stream must be null or belong to it.
pub(super) unsafe fn record(id: i32, event: NonNull<c_void>, stream: Handle) -> Result<()> {
    let device = on(id)?;
    // SAFETY: the caller's promise.
    let status = unsafe { (device.api().hipEventRecord)(event.as_ptr(), stream) };
    device.api().check_done("hipEventRecord", status)
}

/// Makes a stream wait for an event.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device; the event may belong to any device.
pub(super) unsafe fn wait(id: i32, event: NonNull<c_void>, stream: Handle) -> Result<()> {
    let device = on(id)?;
    // SAFETY: the caller's promise; no flags are passed.
    let status = unsafe { (device.api().hipStreamWaitEvent)(stream, event.as_ptr(), 0) };
    device.api().check_done("hipStreamWaitEvent", status)
}

/// Waits for an event.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The event must belong to the device.
pub(super) unsafe fn synchronize(id: i32, event: NonNull<c_void>) -> Result<()> {
    let device = on(id)?;
    // SAFETY: the caller's promise.
    let status = unsafe { (device.api().hipEventSynchronize)(event.as_ptr()) };
    device.api().check_done("hipEventSynchronize", status)
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
    id: i32,
    start: NonNull<c_void>,
    end: NonNull<c_void>,
) -> Result<Option<Duration>> {
    let device = on(id)?;
    let mut milliseconds = 0f32;
    // SAFETY: the caller's promise; the driver writes the number.
    let status = unsafe {
        (device.api().hipEventElapsedTime)(&mut milliseconds, start.as_ptr(), end.as_ptr())
    };
    if status == api::INVALID_HANDLE {
        // Clears HIP's last error, so that other users of HIP on this thread do not see this as a
        // failure.
        device.api().text(status);
        return Ok(None);
    }
    device.api().check("hipEventElapsedTime", status)?;
    let seconds = f64::from(milliseconds.max(0.0)) / 1e3;
    Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or_default()))
}
