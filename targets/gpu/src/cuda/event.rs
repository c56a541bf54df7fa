//! Waits of the host for CUDA events, and the time between them.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::time::Duration;

use ferrite_core::error::Result;

use super::api;
use super::device::Device;
use super::failure::{check_made, done};

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
