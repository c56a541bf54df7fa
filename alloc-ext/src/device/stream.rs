//! Streams: command queues of devices, and the current stream of each thread.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;

use super::backend::Backend;
use super::handle::Device;
use crate::env::stream as of_thread;

/// A command queue of a device, which runs its commands in order. Dropping it does not cancel
/// queued commands.
///
/// Kernels and copies are queued on the current stream of the calling thread and device, initially
/// the default stream.
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
    /// Handle from the back end; null for the default stream, which is not owned.
    handle: *mut c_void,
}

// SAFETY: back ends allow all operations on any thread.
unsafe impl Send for Stream {}
// SAFETY: as for Send.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates a stream. Devices with a single queue return their default stream.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device; errors of the driver.
    pub fn new(device: Device) -> Result<Stream> {
        let handle = match device.backend()? {
            Some(backend) => backend.create_stream(device.id())?,
            None => ptr::null_mut(),
        };
        Ok(Stream { device, handle })
    }

    /// Creates a stream whose commands are to be recorded.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn for_recording(device: Device, backend: &dyn Backend) -> Result<Stream> {
        Ok(Stream { device, handle: backend.create_recording_stream(device.id())? })
    }

    /// Returns the default stream of a device.
    pub const fn default_of(device: Device) -> Stream {
        Stream { device, handle: ptr::null_mut() }
    }

    /// Returns the device that the stream belongs to.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the driver's handle, such as a `CUstream`; null for the default stream.
    pub fn as_ptr(&self) -> *mut c_void {
        self.handle
    }

    /// Runs `body` with this stream as the current stream of the thread and device, then restores
    /// the previous stream. Returns the result of `body`, including its errors, inside the `Ok`
    /// value.
    ///
    /// # Errors
    /// RuntimeError if the thread is ending; MemoryError; errors of the driver.
    pub fn scope<R>(&self, body: impl FnOnce() -> R) -> Result<R> {
        // SAFETY: the stream belongs to the device, and outlives the scope.
        let earlier = unsafe { set_current(self.device, self.handle)? };
        let _restored = RestoredStream { device: self.device, stream: earlier };
        Ok(body())
    }

    /// Waits until all queued commands are complete.
    ///
    /// # Errors
    /// Errors of the driver, including those of the queued commands.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream belongs to the device.
        unsafe { synchronize(self.device, self.handle) }
    }

    /// Makes commands that are queued here from now on wait for all commands already queued on
    /// `other`. Blocks the calling thread only if the streams belong to different devices.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_for(&self, other: &Stream) -> Result<()> {
        if self.device != other.device {
            return other.synchronize();
        }
        match self.device.backend()? {
            // SAFETY: both streams belong to the device.
            Some(backend) => unsafe {
                backend.order_streams(self.device.id(), other.handle, self.handle)
            },
            None => Ok(()),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.handle.is_null()
            && let Ok(Some(backend)) = self.device.backend()
        {
            // SAFETY: this is the owner of the stream, and no thread has it set, since `scope`
            // borrows it. Errors do not matter here.
            let _ = unsafe { backend.free_stream(self.device.id(), self.handle) };
        }
    }
}

/// Guard that sets the current stream when dropped, also during a panic.
struct RestoredStream {
    device: Device,
    stream: *mut c_void,
}

impl Drop for RestoredStream {
    fn drop(&mut self) {
        // SAFETY: the stream was set before, so the code that set it guarantees it. There is no way
        // to report an error.
        let _ = unsafe { set_current(self.device, self.stream) };
    }
}

impl Device {
    /// Waits until all commands on this thread's current stream of the device are complete.
    ///
    /// # Errors
    /// Errors of the driver, including those of the commands.
    pub fn synchronize(self) -> Result<()> {
        // SAFETY: the code that set the stream guarantees it.
        unsafe { synchronize(self, current(self)) }
    }
}

/// Sets the current stream of this thread for a device. Returns the previous stream, or null.
///
/// # Errors
/// Errors of `TVMFFIEnvSetStream`; InternalError if the build has no back end for the device;
/// RuntimeError if the device supports only its default stream; errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device, and stay valid while it is set.
pub unsafe fn set_current(device: Device, stream: *mut c_void) -> Result<*mut c_void> {
    if let Some(backend) = device.backend()? {
        // SAFETY: the caller guarantees the stream.
        unsafe { backend.set_stream(device.id(), stream)? };
    }
    // SAFETY: as above.
    unsafe { of_thread::set(of_thread::DeviceKey::new(device.device_type(), device.id()), stream) }
}

/// Returns the current stream of this thread for a device; null for the default stream.
pub fn current(device: Device) -> *mut c_void {
    of_thread::get(of_thread::DeviceKey::new(device.device_type(), device.id()))
}

/// Waits until all commands queued on a stream are complete.
///
/// # Errors
/// InternalError if the build has no back end for the device; errors of the driver.
///
/// # Safety
/// The stream must be null or belong to the device.
pub unsafe fn synchronize(device: Device, stream: *mut c_void) -> Result<()> {
    match device.backend()? {
        // SAFETY: the caller guarantees the stream.
        Some(backend) => unsafe { backend.synchronize(device.id(), stream) },
        None => Ok(()),
    }
}

/// Returns ValueError if the stream belongs to another device.
pub(super) fn check_device(stream: &Stream, device: Device) -> Result<()> {
    plain_ensure!(
        stream.device == device,
        VALUE_ERROR,
        "The stream is one of device {}, not of {}",
        &ferrite_core::value::device::to_string(stream.device.into())?,
        &ferrite_core::value::device::to_string(device.into())?
    );
    Ok(())
}
