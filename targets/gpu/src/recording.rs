//! Recording of the commands of a stream as a graph.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_core::error::Result;
use ferrite_core::plain_error;

use crate::allocation::{StreamDriver, UsedStreams};

/// A handle of the driver: a stream or a graph.
type Handle = *mut c_void;

/// Operations of a driver on graphs of a device, which must be current on the calling thread.
pub(crate) trait GraphDriver: StreamDriver {
    /// Begins to record the commands of a stream instead of queueing them. Calls that cannot be
    /// recorded fail on this thread, but not on other threads.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must belong to the device.
    unsafe fn begin_recording(&self, stream: Handle) -> Result<()>;

    /// Ends a recording. Writes the graph, or null for a recording that failed.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must be one that is being recorded.
    unsafe fn end_recording(&self, stream: Handle, graph: &mut Handle) -> Result<()>;

    /// Creates a graph that is ready to launch from a recorded one.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The graph must come from `end_recording`.
    unsafe fn instantiate(&self, graph: Handle) -> Result<Handle>;

    /// Destroys a recorded graph. Errors are ignored.
    ///
    /// # Safety
    /// The graph must come from `end_recording`, and must not be used afterwards.
    unsafe fn destroy_recorded(&self, graph: Handle);
}

/// Records the commands that `body` queues on a stream, ready to launch.
///
/// # Errors
/// Errors of `body`; errors of the driver, also for calls of this thread that cannot be recorded.
///
/// # Safety
/// The stream must belong to the device, and no other thread may use it meanwhile.
pub(crate) unsafe fn record(
    driver: &impl GraphDriver,
    streams: &UsedStreams,
    stream: Handle,
    body: &mut dyn FnMut() -> Result<()>,
) -> Result<NonNull<c_void>> {
    // SAFETY: the caller guarantees the stream.
    unsafe {
        streams.settle(driver, stream);
        driver.begin_recording(stream)?;
    }
    let recording = Recording { driver, stream };
    body()?;
    let recorded = recording.end()?;
    // SAFETY: as above. Recorded commands do not use memory until they are queued.
    unsafe { streams.settle(driver, stream) };
    recorded.instantiate()
}

/// A recording in progress, which ends when dropped, also during a panic.
struct Recording<'a, D: GraphDriver> {
    driver: &'a D,
    stream: Handle,
}

impl<'a, D: GraphDriver> Recording<'a, D> {
    fn end(self) -> Result<RecordedGraph<'a, D>> {
        let this = ManuallyDrop::new(self);
        let mut recorded = RecordedGraph { driver: this.driver, graph: core::ptr::null_mut() };
        // SAFETY: the stream is being recorded.
        unsafe { this.driver.end_recording(this.stream, &mut recorded.graph)? };
        Ok(recorded)
    }
}

impl<D: GraphDriver> Drop for Recording<'_, D> {
    fn drop(&mut self) {
        let mut recorded = RecordedGraph { driver: self.driver, graph: core::ptr::null_mut() };
        // SAFETY: as in `end`. Errors do not matter: the recording is given up.
        let _ = unsafe { self.driver.end_recording(self.stream, &mut recorded.graph) };
    }
}

/// A graph that is not ready to launch: a `CUgraph` or `hipGraph_t`.
struct RecordedGraph<'a, D: GraphDriver> {
    driver: &'a D,
    graph: Handle,
}

impl<D: GraphDriver> RecordedGraph<'_, D> {
    fn instantiate(self) -> Result<NonNull<c_void>> {
        // SAFETY: this owns the graph.
        let executable = unsafe { self.driver.instantiate(self.graph)? };
        NonNull::new(executable)
            .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The driver gave null for a graph"))
    }
}

impl<D: GraphDriver> Drop for RecordedGraph<'_, D> {
    fn drop(&mut self) {
        if !self.graph.is_null() {
            // SAFETY: this is the owner.
            unsafe { self.driver.destroy_recorded(self.graph) };
        }
    }
}
