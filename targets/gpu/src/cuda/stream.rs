//! CUDA streams.

use core::ptr;

use ferrite_core::error::Result;

use super::api::{self, Handle};
use super::device::Device;
use super::event;
use super::failure::{done, made};

/// Creates a stream that does not synchronise with the default stream.
///
/// # Errors
/// Errors of the driver.
pub(super) fn create(device: &Device) -> Result<Handle> {
    let _entered = device.enter()?;
    let mut stream = ptr::null_mut();
    // SAFETY: the driver writes the handle.
    unsafe { made!(device.api, cuStreamCreate(&mut stream, api::STREAM_NON_BLOCKING))? };
    Ok(stream)
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
    device.workspaces.forget(device, stream);
    // SAFETY: the caller's promise.
    unsafe { done!(device.api, cuStreamDestroy_v2(stream)) }
}

/// Makes commands queued on `after` from now on wait for commands queued on `before` so far.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// Both streams must be null or belong to the device.
pub(super) unsafe fn order(device: &Device, before: Handle, after: Handle) -> Result<()> {
    let event = event::create(device, false)?;
    // SAFETY: the caller guarantees the streams; the driver keeps an event alive while a stream
    // waits for it.
    unsafe {
        let ordered =
            event::record(device, event, before).and_then(|()| event::wait(device, event, after));
        event::destroy(device.id, event);
        ordered
    }
}
