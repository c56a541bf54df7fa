//! Streams for copies that overlap kernels.

use ferrite_alloc_ext::device::{self, Device, Stream, stream};
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;

/// Stream of copies from main memory to a device, beside the current stream, on which kernels run.
/// On devices with a single queue, copies run on the current stream.
pub(crate) struct CopyStream(Option<Stream>);

impl CopyStream {
    /// Creates a stream, unless the device is main memory or has a single queue.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device; errors of its driver.
    pub(crate) fn new(device: DLDevice) -> Result<CopyStream> {
        if device::is_main_memory(device.device_type) {
            return Ok(CopyStream(None));
        }
        let stream = Stream::new(Device::from(device))?;
        Ok(CopyStream((!stream.as_ptr().is_null()).then_some(stream)))
    }

    /// Makes later copies wait for the commands that are queued on the current stream, which may
    /// read the memory that the copies overwrite.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(crate) fn wait_for_kernels(&self) -> Result<()> {
        let Some(copies) = &self.0 else { return Ok(()) };
        let device = copies.device();
        // SAFETY: both streams belong to the device.
        unsafe {
            device::get(device.device_type())?.order_streams(
                device.id(),
                stream::current(device),
                copies.as_ptr(),
            )
        }
    }

    /// Queues a copy of a compact tensor in main memory to another one of the same size. Commands
    /// that are queued on the current stream from now on wait for it. The source has been read when
    /// this returns.
    ///
    /// # Errors
    /// Errors of [`copy`](super::copy).
    ///
    /// # Safety
    /// Both tensors must be valid and the source of device type CPU; no other code may use the data
    /// of the destination, except for commands before the last
    /// [`wait_for_kernels`](Self::wait_for_kernels).
    pub(crate) unsafe fn send(&self, from: &DLTensor, to: &DLTensor) -> Result<()> {
        let Some(copies) = &self.0 else {
            // SAFETY: as the caller guarantees; commands on the current stream run in order.
            return unsafe { super::send(from, to) };
        };
        let device = copies.device();
        // SAFETY: as the caller guarantees; both streams belong to the device.
        unsafe {
            device::copy_tensor(from, to, copies.as_ptr())?;
            device::get(device.device_type())?.order_streams(
                device.id(),
                copies.as_ptr(),
                stream::current(device),
            )
        }
    }
}
