//! Graphs: commands that are recorded once and queued again in one call.

use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::platform::sync::per_thread;
use ferrite_core::{plain_bail, plain_ensure};

use super::handle::Device;
use super::stream::{self, Stream};

ferrite_core::per_thread!(
    /// Whether recordings of this thread refuse commands that use main memory.
    static REFUSES_MAIN_MEMORY: bool = false
);

/// Recorded commands of a device, such as the kernels of a model. Queueing them again takes one
/// call of the driver.
///
/// The commands use the memory that they were recorded with. Dropping the graph does not cancel
/// queued commands.
///
/// ```
/// use ferrite_alloc_ext::device::{Device, Graph};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let device = Device::all().next().unwrap_or(Device::CPU);
/// if Graph::is_supported(device)? {
///     let (_, graph) = Graph::record(device, || Ok(()))?; // the closure calls kernels
///     // SAFETY: the tensors of the kernels are still alive.
///     unsafe { graph?.launch()? };
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Graph {
    /// The stream of the recording, never used again: workspaces that the commands use are reserved
    /// for it.
    stream: Stream,
    handle: NonNull<core::ffi::c_void>,
}

// SAFETY: back ends allow all operations on any thread.
unsafe impl Send for Graph {}
// SAFETY: as for Send.
unsafe impl Sync for Graph {}

impl Graph {
    /// Returns `true` if commands of a device can be recorded.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device.
    pub fn is_supported(device: Device) -> Result<bool> {
        Ok(device.backend()?.is_some_and(|backend| backend.has_graphs()))
    }

    /// Returns `true` if this thread's current stream is being recorded, by a [`Graph`] or by
    /// another library.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device; errors of the driver.
    pub fn is_recording(device: Device) -> Result<bool> {
        match device.backend()? {
            // SAFETY: the code that set the current stream guarantees it.
            Some(backend) => unsafe { backend.is_recording(device.id(), stream::current(device)) },
            None => Ok(false),
        }
    }

    /// Calls `body` twice on a new stream: the first call executes and performs one-time
    /// initialisation; the commands of the second are only recorded. Returns the second result and
    /// the graph, or the first result and the error that prevented the recording, such as an
    /// allocation or a wait in the second call.
    ///
    /// # Errors
    /// Errors of the first call; RuntimeError if the device has no graphs; errors of the driver.
    pub fn record<R>(
        device: Device,
        mut body: impl FnMut() -> Result<R>,
    ) -> Result<(R, Result<Graph>)> {
        let backend = super::get(device.device_type())?;
        plain_ensure!(backend.has_graphs(), RUNTIME_ERROR, "The device has no graphs");
        let stream = Stream::for_recording(device, backend)?;
        // What was queued before may write what the commands read.
        // SAFETY: the code that set the current stream guarantees it.
        unsafe { backend.order_streams(device.id(), stream::current(device), stream.as_ptr())? };
        let first = stream.scope(&mut body)??;
        stream.synchronize()?;
        let mut second = None;
        let recorded = stream.scope(|| {
            let mut record = || body().map(|result| second = Some(result));
            // SAFETY: the stream belongs to the device, and to this call alone.
            unsafe { backend.record_graph(device.id(), stream.as_ptr(), &mut record) }
        })?;
        let graph = recorded.map(|handle| Graph { stream, handle });
        Ok((second.filter(|_| graph.is_ok()).unwrap_or(first), graph))
    }

    /// Records as [`record`](Graph::record) does, but no commands that use main memory: functions
    /// that queue such commands raise an error in the second call. A launch of the graph needs no
    /// borrow of any tensor in main memory.
    ///
    /// # Errors
    /// Errors of [`record`](Graph::record); RuntimeError if the thread is ending.
    pub fn record_device_only<R>(
        device: Device,
        body: impl FnMut() -> Result<R>,
    ) -> Result<(R, Result<Graph>)> {
        let Some(before) = set_refuses_main_memory(true) else {
            plain_bail!(RUNTIME_ERROR, "This thread is ending, and records no commands any more");
        };
        let _restored = RestoredRefusal(before);
        Graph::record(device, body)
    }

    /// Checks that a command may use main memory after the call that queues it on this thread's
    /// current stream of the device.
    ///
    /// # Errors
    /// RuntimeError in the second call of [`record_device_only`](Graph::record_device_only);
    /// errors of [`is_recording`](Graph::is_recording).
    pub fn check_main_memory_allowed(device: Device) -> Result<()> {
        let is_refused = per_thread::with(&REFUSES_MAIN_MEMORY, |refuses| *refuses) == Some(true);
        plain_ensure!(
            !is_refused || !Graph::is_recording(device)?,
            RUNTIME_ERROR,
            "A command that uses main memory is not recorded: it would not be borrowed later"
        );
        Ok(())
    }

    /// Queues the commands on this thread's current stream of the device.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The memory that the commands use must still be allocated. Main memory among it must not be
    /// borrowed, nor accessed before the stream is synchronised. No other thread may launch the
    /// graph at the same time: drivers do not synchronise it.
    pub unsafe fn launch(&self) -> Result<()> {
        let device = self.stream.device();
        let backend = super::get(device.device_type())?;
        // SAFETY: the graph belongs to the device; the code that set the stream guarantees it; the
        // caller the memory.
        unsafe { backend.launch_graph(device.id(), self.handle, stream::current(device)) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let device = self.stream.device();
        if let Ok(Some(backend)) = device.backend() {
            // SAFETY: this is the owner of the graph.
            unsafe { backend.free_graph(device.id(), self.handle) };
        }
    }
}

/// Sets whether recordings of this thread refuse commands that use main memory. Returns the
/// previous state; `None` if the thread is ending.
fn set_refuses_main_memory(refuses: bool) -> Option<bool> {
    per_thread::with(&REFUSES_MAIN_MEMORY, |state| core::mem::replace(state, refuses))
}

/// Guard that restores the state of [`set_refuses_main_memory`] when dropped, also during a panic.
struct RestoredRefusal(bool);

impl Drop for RestoredRefusal {
    fn drop(&mut self) {
        set_refuses_main_memory(self.0);
    }
}
