//! CUDA graphs: recorded commands of a stream.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::error::Result;
use ferrite_core::plain_error;

use super::api::{self, Handle};
use super::device::Device;
use super::failure::{done, made};
use super::platform;

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
    // SAFETY: the caller guarantees the stream.
    unsafe { device.pool.streams.settle(device, stream) };
    // SAFETY: the caller guarantees the stream.
    unsafe { made!(device.api, cuStreamBeginCapture_v2(stream, api::CAPTURE_THREAD_LOCAL))? };
    let recording = Recording { device, stream };
    body()?;
    let template = recording.end()?;
    // SAFETY: as above. Recorded commands do not use memory until they are queued.
    unsafe { device.pool.streams.settle(device, stream) };
    template.instantiate()
}

/// A recording in progress, which ends when dropped, also during a panic.
struct Recording<'a> {
    device: &'a Device,
    stream: Handle,
}

impl<'a> Recording<'a> {
    fn end(self) -> Result<Template<'a>> {
        let this = core::mem::ManuallyDrop::new(self);
        let mut template = Template { device: this.device, graph: ptr::null_mut() };
        // SAFETY: the stream is being recorded; the driver writes the graph, or null for a
        // recording that failed.
        unsafe { made!(this.device.api, cuStreamEndCapture(this.stream, &mut template.graph))? };
        Ok(template)
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        let mut template = Template { device: self.device, graph: ptr::null_mut() };
        // SAFETY: as in `end`. Errors do not matter: the recording is given up.
        unsafe { (self.device.api.cuStreamEndCapture)(self.stream, &mut template.graph) };
    }
}

/// A graph that is not ready to launch: a `CUgraph`.
struct Template<'a> {
    device: &'a Device,
    graph: Handle,
}

impl Template<'_> {
    fn instantiate(self) -> Result<NonNull<c_void>> {
        let mut executable = ptr::null_mut();
        // SAFETY: this owns the graph; the driver writes the handle.
        unsafe {
            made!(self.device.api, cuGraphInstantiateWithFlags(&mut executable, self.graph, 0))?
        };
        NonNull::new(executable)
            .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The CUDA driver gave null for a graph"))
    }
}

impl Drop for Template<'_> {
    fn drop(&mut self) {
        if !self.graph.is_null() {
            // SAFETY: this is the owner. Errors are ignored.
            unsafe { (self.device.api.cuGraphDestroy)(self.graph) };
        }
    }
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
