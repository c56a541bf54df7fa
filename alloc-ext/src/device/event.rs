//! Events: marks in streams.

use core::ffi::c_void;
use core::ptr::NonNull;
use core::time::Duration;

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

use super::handle::Device;
use super::stream::{Stream, check_device};

/// A mark in a stream, which threads and streams wait for. Freed when it is dropped; commands that wait for it still do.
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
    /// None on the CPU, where events are always over.
    handle: Option<NonNull<c_void>>,
}

// SAFETY: any thread may call any operation of a back end; what must not run at the same time takes `&mut`.
unsafe impl Send for Event {}
// SAFETY: as for Send.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event.
    ///
    /// # Errors
    /// InternalError when the build has no back end for the device; RuntimeError when it has no events; errors of the driver.
    pub fn new(device: Device) -> Result<Event> {
        Event::create(device, false)
    }

    /// Creates an event that keeps the time at which it is over, where the driver can.
    ///
    /// # Errors
    /// As [`new`](Event::new).
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

    /// The device.
    pub fn device(&self) -> Device {
        self.device
    }

    pub(super) fn handle(&self) -> Option<NonNull<c_void>> {
        self.handle
    }

    /// Records the event in a stream: it is over when everything that was queued there before is done.
    ///
    /// # Errors
    /// ValueError for a stream of another device; errors of the driver.
    pub fn record(&mut self, stream: &Stream) -> Result<()> {
        check_device(stream, self.device)?;
        match (self.device.backend()?, self.handle) {
            // SAFETY: both are of the device, and nobody else uses the event.
            (Some(backend), Some(event)) => unsafe {
                backend.record_event(self.device.id(), event, stream.as_ptr())
            },
            _ => Ok(()),
        }
    }

    /// Waits until the event is over. One that was never recorded is.
    ///
    /// # Errors
    /// Errors of the driver, among them those of commands that were queued before.
    pub fn synchronize(&self) -> Result<()> {
        match (self.device.backend()?, self.handle) {
            // SAFETY: the event is one of the device.
            (Some(backend), Some(event)) => unsafe { backend.synchronize_event(self.device.id(), event) },
            _ => Ok(()),
        }
    }

    /// The time from `start` to this event, as the device measured it; waits for both. None where the driver cannot tell, and
    /// unless both have a timing and a record.
    ///
    /// # Errors
    /// ValueError for an event of another device; errors of the driver.
    pub fn elapsed_since(&self, start: &Event) -> Result<Option<Duration>> {
        plain_ensure!(
            self.device == start.device,
            VALUE_ERROR,
            "Times are measured between events of one device"
        );
        start.synchronize()?;
        self.synchronize()?;
        match (self.device.backend()?, start.handle, self.handle) {
            // SAFETY: both events are of the device, and over.
            (Some(backend), Some(start), Some(end)) => unsafe {
                backend.elapsed(self.device.id(), start, end)
            },
            _ => Ok(None),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let (Ok(Some(backend)), Some(event)) = (self.device.backend(), self.handle) {
            // SAFETY: the event is ours.
            unsafe { backend.free_event(self.device.id(), event) };
        }
    }
}
