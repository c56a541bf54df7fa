//! ROCm graphs: recorded commands of a stream.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::error::Result;

use super::api::{self, Handle};
use super::platform::{OnDevice, on, platform};
use crate::recording::{self, GraphDriver};

/// Returns whether a stream is being recorded.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device.
pub(super) unsafe fn is_recording(id: i32, stream: Handle) -> Result<bool> {
    let device = on(id)?;
    let mut recording: c_int = 0;
    // SAFETY: the caller guarantees the stream; the driver writes the status.
    let status = unsafe { (device.api().hipStreamIsCapturing)(stream, &mut recording) };
    device.api().check("hipStreamIsCapturing", status)?;
    Ok(recording != 0)
}

impl GraphDriver for OnDevice {
    unsafe fn begin_recording(&self, stream: Handle) -> Result<()> {
        // SAFETY: the caller guarantees the stream.
        let status =
            unsafe { (self.api().hipStreamBeginCapture)(stream, api::CAPTURE_THREAD_LOCAL) };
        self.api().check("hipStreamBeginCapture", status)
    }

    unsafe fn end_recording(&self, stream: Handle, graph: &mut Handle) -> Result<()> {
        // SAFETY: the caller guarantees the stream; the driver writes the graph.
        let status = unsafe { (self.api().hipStreamEndCapture)(stream, graph) };
        self.api().check("hipStreamEndCapture", status)
    }

    unsafe fn instantiate(&self, graph: Handle) -> Result<Handle> {
        let (mut executable, no_node, no_log) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: the caller guarantees the graph; the driver writes the handle.
        let status =
            unsafe { (self.api().hipGraphInstantiate)(&mut executable, graph, no_node, no_log, 0) };
        self.api().check("hipGraphInstantiate", status)?;
        Ok(executable)
    }

    unsafe fn destroy_recorded(&self, graph: Handle) {
        // SAFETY: the caller's promise.
        unsafe { (self.api().hipGraphDestroy)(graph) };
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
    id: i32,
    stream: Handle,
    body: &mut dyn FnMut() -> Result<()>,
) -> Result<NonNull<c_void>> {
    let on_device = on(id)?;
    // Those that the recorded commands take.
    on_device.device.workspaces.keep(stream);
    on_device.device.pinned_workspaces.keep(stream);
    // SAFETY: the caller's promise.
    unsafe { recording::record(&on_device, &on_device.pool().streams, stream, body) }
}

/// Queues the commands of a graph on a stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The graph must come from [`record`] for the device, the stream must be null or belong to it, and
/// the memory that the commands use must still be allocated.
pub(super) unsafe fn launch(id: i32, graph: NonNull<c_void>, stream: Handle) -> Result<()> {
    let device = on(id)?;
    device.pool().streams.note(stream);
    // SAFETY: the caller's promise.
    let status = unsafe { (device.api().hipGraphLaunch)(graph.as_ptr(), stream) };
    device.api().check_done("hipGraphLaunch", status)
}

/// Destroys a graph. Its queued commands still run.
///
/// # Safety
/// The graph must come from [`record`], and must not be used afterwards.
pub(super) unsafe fn destroy(graph: NonNull<c_void>) {
    if let Ok(platform) = platform() {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (platform.api.hipGraphExecDestroy)(graph.as_ptr()) };
    }
}
