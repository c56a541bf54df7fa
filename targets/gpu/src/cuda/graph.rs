//! CUDA graphs: recorded commands of a stream.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::error::Result;

use super::api::{self, Handle};
use super::device::Device;
use super::failure::{done, made};
use super::platform;
use crate::recording::{self, GraphDriver};

/// Returns whether a stream is being recorded.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device.
pub(super) unsafe fn is_recording(device: &Device, stream: Handle) -> Result<bool> {
    let _entered = device.enter()?;
    let mut status: c_int = 0;
    // SAFETY: the caller guarantees the stream; the driver writes the status.
    unsafe { made!(device.api, cuStreamIsCapturing(stream, &mut status))? };
    Ok(status != 0)
}

impl GraphDriver for Device {
    unsafe fn begin_recording(&self, stream: Handle) -> Result<()> {
        // SAFETY: the caller guarantees the stream.
        unsafe { made!(self.api, cuStreamBeginCapture_v2(stream, api::CAPTURE_THREAD_LOCAL)) }
    }

    unsafe fn end_recording(&self, stream: Handle, graph: &mut Handle) -> Result<()> {
        // SAFETY: the caller guarantees the stream; the driver writes the graph.
        unsafe { made!(self.api, cuStreamEndCapture(stream, graph)) }
    }

    unsafe fn instantiate(&self, graph: Handle) -> Result<Handle> {
        let mut executable = ptr::null_mut();
        // SAFETY: the caller guarantees the graph; the driver writes the handle.
        unsafe { made!(self.api, cuGraphInstantiateWithFlags(&mut executable, graph, 0))? };
        Ok(executable)
    }

    unsafe fn destroy_recorded(&self, graph: Handle) {
        // SAFETY: the caller's promise.
        unsafe { (self.api.cuGraphDestroy)(graph) };
    }
}

/// Records the commands that `body` queues on a stream, ready to launch.
///
/// # Errors
/// Errors of `body`; errors of the driver, also for calls of this thread that cannot be recorded.
///
/// # Safety
/// The stream must belong to the device, and no other thread may use it meanwhile.
pub(super) unsafe fn record(
    device: &Device,
    stream: Handle,
    body: &mut dyn FnMut() -> Result<()>,
) -> Result<NonNull<c_void>> {
    let _entered = device.enter()?;
    // Those that the recorded commands take.
    device.workspaces.keep(stream);
    // SAFETY: the caller's promise.
    unsafe { recording::record(device, &device.pool.streams, stream, body) }
}

/// Queues the commands of a graph on a stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The graph must come from [`record`] for the device, the stream must be null or belong to it, and
/// the memory that the commands use must still be allocated.
pub(super) unsafe fn launch(device: &Device, graph: NonNull<c_void>, stream: Handle) -> Result<()> {
    let _entered = device.enter()?;
    device.pool.streams.note(stream);
    // SAFETY: the caller's promise.
    unsafe { done!(device.api, cuGraphLaunch(graph.as_ptr(), stream)) }
}

/// Destroys a graph. Its queued commands still run.
///
/// # Safety
/// The graph must come from [`record`], and must not be used afterwards.
pub(super) unsafe fn destroy(id: i32, graph: NonNull<c_void>) {
    if let Ok(device) = platform::device(id) {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (device.api.cuGraphExecDestroy)(graph.as_ptr()) };
    }
}
