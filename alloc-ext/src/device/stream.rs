//! Streams: queues of a device.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

use super::event::Event;
use super::handle::Device;
use crate::env::stream as of_thread;

/// A queue of a device, in which commands run in order. Freed when it is dropped; commands that are queued still run.
///
/// Kernels and copies go to the stream that is set for their thread and device, the default one at first.
///
/// ```
/// use ferrite_alloc_ext::device::{Device, DeviceTensor, Stream};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let device = Device::all().next().unwrap_or(Device::CPU);
/// let stream = Stream::new(device)?;
/// let values = stream.scope(|| {
///     // Kernels that are called here run on the stream.
///     DeviceTensor::from_slice(device, &[1i32, 2], &[2])?.read::<i32>()
/// })??;
/// stream.synchronize()?;
/// assert_eq!(*values, [1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Stream {
    device: Device,
    /// Null for the default stream, which is not owned.
    handle: *mut c_void,
}

// SAFETY: any thread may call any operation of a back end.
unsafe impl Send for Stream {}
// SAFETY: as for Send.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates a stream. Devices with one queue give their default stream.
    ///
    /// # Errors
    /// InternalError when the build has no back end for the device; errors of the driver.
    pub fn new(device: Device) -> Result<Stream> {
        let handle = match device.backend()? {
            Some(backend) => backend.create_stream(device.id())?,
            None => ptr::null_mut(),
        };
        Ok(Stream { device, handle })
    }

    /// The default stream of a device.
    pub const fn default_of(device: Device) -> Stream {
        Stream { device, handle: ptr::null_mut() }
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The handle of the driver, such as a `CUstream`; null for the default stream.
    pub fn as_ptr(&self) -> *mut c_void {
        self.handle
    }

    /// Runs `body` with this as the stream of this thread and the device, and sets the earlier one again.
    ///
    /// # Errors
    /// RuntimeError when the thread is ending; MemoryError; errors of the driver. Those of `body` are in its result.
    pub fn scope<R>(&self, body: impl FnOnce() -> R) -> Result<R> {
        // SAFETY: the stream is one of the device, and lives until it is unset.
        let earlier = unsafe { set_current(self.device, self.handle)? };
        let _restored = Restored { device: self.device, stream: earlier };
        Ok(body())
    }

    /// Waits until everything that was queued is done.
    ///
    /// # Errors
    /// Errors of the driver, among them those of commands that were queued before.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream is one of the device.
        unsafe { synchronize(self.device, self.handle) }
    }

    /// Makes what is queued here from now on run after what was queued on `other`. Waits for nothing itself, unless the devices
    /// are different ones that cannot wait for each other.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_for(&self, other: &Stream) -> Result<()> {
        if self.device != other.device {
            return other.synchronize();
        }
        match self.device.backend()? {
            // SAFETY: both are streams of the device.
            Some(backend) => unsafe { backend.order_streams(self.device.id(), other.handle, self.handle) },
            None => Ok(()),
        }
    }

    /// Makes what is queued here from now on run after an event. Waits for nothing itself, unless the event is that of a device
    /// of another type.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_for_event(&self, event: &Event) -> Result<()> {
        if event.device().device_type() != self.device.device_type() {
            return event.synchronize();
        }
        match (self.device.backend()?, event.handle()) {
            // SAFETY: the stream is one of the device, the event one of its type.
            (Some(backend), Some(event)) => unsafe {
                backend.wait_for_event(self.device.id(), event, self.handle)
            },
            _ => Ok(()),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.handle.is_null()
            && let Ok(Some(backend)) = self.device.backend()
        {
            // SAFETY: the stream is ours, and no thread has it set: `scope` borrows it. Errors do not matter here.
            let _ = unsafe { backend.free_stream(self.device.id(), self.handle) };
        }
    }
}

/// Sets a stream when it is dropped, also by a panic.
struct Restored {
    device: Device,
    stream: *mut c_void,
}

impl Drop for Restored {
    fn drop(&mut self) {
        // SAFETY: the stream was set before, so its owner vouches for it. Nobody could be told of an error.
        let _ = unsafe { set_current(self.device, self.stream) };
    }
}

/// Sets the stream of this thread for a device. Returns the earlier one.
///
/// # Errors
/// As those of `TVMFFIEnvSetStream`; RuntimeError when the device has no such stream.
///
/// # Safety
/// The stream must be null or one of the device, as long as it is set.
pub unsafe fn set_current(device: Device, stream: *mut c_void) -> Result<*mut c_void> {
    if let Some(backend) = device.backend()? {
        // SAFETY: the caller vouches for the stream.
        unsafe { backend.set_stream(device.id(), stream)? };
    }
    of_thread::set(of_thread::Device::new(device.device_type(), device.id()), stream)
}

/// The stream of this thread for a device.
pub fn current(device: Device) -> *mut c_void {
    of_thread::get(of_thread::Device::new(device.device_type(), device.id()))
}

/// Waits for a stream.
///
/// # Errors
/// Errors of the driver.
///
/// # Safety
/// The stream must be null or one of the device.
pub unsafe fn synchronize(device: Device, stream: *mut c_void) -> Result<()> {
    match device.backend()? {
        // SAFETY: the caller vouches for the stream.
        Some(backend) => unsafe { backend.synchronize(device.id(), stream) },
        None => Ok(()),
    }
}

/// Waits for the stream of this thread for a device.
///
/// # Errors
/// Errors of the driver.
pub(super) fn synchronize_current(device: Device) -> Result<()> {
    // SAFETY: whoever set the stream vouches for it.
    unsafe { synchronize(device, current(device)) }
}

/// Refuses a stream of another device.
pub(super) fn check_device(stream: &Stream, device: Device) -> Result<()> {
    plain_ensure!(
        stream.device == device,
        VALUE_ERROR,
        "The stream is one of device {}, not of {}",
        &ferrite_core::device::to_string(stream.device.into())?,
        &ferrite_core::device::to_string(device.into())?
    );
    Ok(())
}
