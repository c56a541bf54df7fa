//! Events: markers in streams, for synchronisation and timing.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::time::Duration;

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

use super::handle::Device;
use super::stream::{Stream, check_device};

/// A marker in a stream that threads and other streams can wait for. Dropping it does not affect
/// commands that already wait for it.
///
/// ```
/// use ferrite_alloc_ext::device::{Device, Event, Stream};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let device = Device::all().next().unwrap_or(Device::CPU);
/// let stream = Stream::new(device)?;
/// let (mut start, mut end) = (Event::with_timing(device)?, Event::with_timing(device)?);
/// start.record(&stream)?;
/// // Kernels are launched here.
/// end.record(&stream)?;
/// if let Some(time) = end.elapsed_since(&start)? {
///     println!("{time:?}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Event {
    device: Device,
    /// Handle from the back end; `None` on the CPU, where events are always complete.
    handle: Option<NonNull<c_void>>,
}

// SAFETY: back ends allow all operations on any thread, and operations that must not run
// concurrently take `&mut`.
unsafe impl Send for Event {}
// SAFETY: as for Send.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event without timing.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device; RuntimeError if the device has no
    /// events; errors of the driver.
    pub fn new(device: Device) -> Result<Event> {
        Event::create(device, false)
    }

    /// Creates an event that records a timestamp when it completes, if the driver supports it.
    ///
    /// # Errors
    /// Errors of [`new`](Event::new).
    pub fn with_timing(device: Device) -> Result<Event> {
        Event::create(device, true)
    }

    fn create(device: Device, timing: bool) -> Result<Event> {
        let handle = match device.backend()? {
            Some(backend) => Some(backend.create_event(device.id(), timing)?),
            None => None,
        };
        Ok(Event { device, handle })
    }

    /// Returns the device that the event belongs to.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Records the event in a stream. It completes when all commands queued there before are
    /// complete.
    ///
    /// # Errors
    /// ValueError for a stream of another device; errors of the driver.
    pub fn record(&mut self, stream: &Stream) -> Result<()> {
        check_device(stream, self.device)?;
        match (self.device.backend()?, self.handle) {
            // SAFETY: both belong to the device, and `&mut` excludes other uses of the event.
            (Some(backend), Some(event)) => unsafe {
                backend.record_event(self.device.id(), event, stream.as_ptr())
            },
            _ => Ok(()),
        }
    }

    /// Waits until the event is complete. An event that was never recorded counts as complete.
    ///
    /// # Errors
    /// Errors of the driver, including those of commands queued before the event.
    pub fn synchronize(&self) -> Result<()> {
        match (self.device.backend()?, self.handle) {
            // SAFETY: the event belongs to the device.
            (Some(backend), Some(event)) => unsafe {
                backend.synchronize_event(self.device.id(), event)
            },
            _ => Ok(()),
        }
    }

    /// Waits for both events. Returns the time from `start` to this event, measured by the device;
    /// `None` if the driver cannot measure it, or if either event has no timing or was never
    /// recorded.
    ///
    /// # Errors
    /// ValueError if `start` belongs to another device; errors of the driver.
    pub fn elapsed_since(&self, start: &Event) -> Result<Option<Duration>> {
        plain_ensure!(
            self.device == start.device,
            VALUE_ERROR,
            "Times are measured between events of one device"
        );
        start.synchronize()?;
        self.synchronize()?;
        match (self.device.backend()?, start.handle, self.handle) {
            // SAFETY: both events belong to the device and are complete.
            (Some(backend), Some(start), Some(end)) => unsafe {
                backend.elapsed(self.device.id(), start, end)
            },
            _ => Ok(None),
        }
    }
}

impl Stream {
    /// Makes commands that are queued here from now on wait for an event. Blocks the calling thread
    /// only if the event belongs to a device of another type.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_for_event(&self, event: &Event) -> Result<()> {
        if event.device.device_type() != self.device().device_type() {
            return event.synchronize();
        }
        match (self.device().backend()?, event.handle) {
            // SAFETY: the stream belongs to the device, the event to a device of its type.
            (Some(backend), Some(event)) => unsafe {
                backend.wait_for_event(self.device().id(), event, self.as_ptr())
            },
            _ => Ok(()),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let (Ok(Some(backend)), Some(event)) = (self.device.backend(), self.handle) {
            // SAFETY: this is the owner of the event.
            unsafe { backend.free_event(self.device.id(), event) };
        }
    }
}
