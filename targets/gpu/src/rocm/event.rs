//! Waits of the host for ROCm events, and the time between them.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::time::Duration;

use ferrite_core::error::Result;

use super::api;
use super::platform::on;

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
