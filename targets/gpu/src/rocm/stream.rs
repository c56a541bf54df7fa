//! ROCm streams.

use core::ptr;

use ferrite_alloc_ext::env::stream;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;

use super::api::Handle;
use super::event;
use super::memory::{Memory, Pinned};
use super::platform::on;

/// Returns the calling thread's stream, set by `TVMFFIEnvSetStream`; null is the default stream.
#[inline]
pub(super) fn current(id: i32) -> Handle {
    stream::get(stream::DeviceKey::new(kind::ROCM, id))
}

/// Creates a stream.
///
/// # Errors
/// Errors of the driver.
pub(super) fn create(id: i32) -> Result<Handle> {
    let device = on(id)?;
    let mut stream = ptr::null_mut();
    device
        .api()
        // SAFETY: the driver writes the stream.
        .check("hipStreamCreate", unsafe { (device.api().hipStreamCreate)(&mut stream) })?;
    Ok(stream)
}

/// Destroys a stream. Has no effect on the default stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// `stream` must be null or belong to the device, and must not be used afterwards.
pub(super) unsafe fn destroy(id: i32, stream: Handle) -> Result<()> {
    let device = on(id)?;
    if stream.is_null() {
        return Ok(());
    }
    let state = device.platform.device(id)?;
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

/// Makes commands queued on `after` from now on wait for commands queued on `before` so far.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// Both streams must be null or belong to the device.
pub(super) unsafe fn order(id: i32, before: Handle, after: Handle) -> Result<()> {
    let event = event::create(id, false)?;
    // SAFETY: the caller guarantees the streams. The driver keeps an event alive while a stream
    // waits for it.
    unsafe {
        let recorded = event::record(id, event, before);
        let ordered = recorded.and_then(|()| event::wait(id, event, after));
        event::destroy(event);
        ordered
    }
}
