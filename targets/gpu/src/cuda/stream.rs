//! Streams and events.

use core::ptr;

use ferrite_core::error::Result;

use super::api::{self, Handle};
use super::device::Device;
use super::failure::{done, made};

/// Creates a stream that does not wait for the default one.
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

/// Frees a stream. Its commands still run. The default stream stays.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or one of the device, and not be used afterwards.
pub(super) unsafe fn free(device: &Device, stream: Handle) -> Result<()> {
    if stream.is_null() {
        return Ok(());
    }
    let _entered = device.enter()?;
    device.workspaces.forget(device, stream);
    // SAFETY: the caller's promise.
    unsafe { done!(device.api, cuStreamDestroy_v2(stream)) }
}

/// Makes what is queued on `after` from now on wait for what was queued on `before`.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The streams must be null or streams of the device.
pub(super) unsafe fn order(device: &Device, before: Handle, after: Handle) -> Result<()> {
    let _entered = device.enter()?;
    let event = Event::new(device)?;
    // SAFETY: the caller vouches for the streams; the driver keeps what a waiting stream needs of the event.
    unsafe {
        done!(device.api, cuEventRecord(event.handle, before))?;
        done!(device.api, cuStreamWaitEvent(after, event.handle, 0))
    }
}

/// An event without a time.
struct Event<'a> {
    device: &'a Device,
    handle: Handle,
}

impl Event<'_> {
    /// Creates an event in the current context.
    fn new(device: &Device) -> Result<Event<'_>> {
        let mut handle = ptr::null_mut();
        // SAFETY: the driver writes the handle.
        unsafe { made!(device.api, cuEventCreate(&mut handle, api::EVENT_DISABLE_TIMING))? };
        Ok(Event { device, handle })
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event is ours. Errors do not matter here.
        unsafe { (self.device.api.cuEventDestroy_v2)(self.handle) };
    }
}
