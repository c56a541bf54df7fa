//! Memory blocks and copies on any device that has a back end.

#[cfg(feature = "kv-cache")]
mod copy_stream;
mod host;

use core::ffi::c_void;

use ferrite_alloc_ext::device;
pub use ferrite_alloc_ext::device::empty;
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::value::device::kind::CPU;

#[cfg(feature = "kv-cache")]
pub(crate) use copy_stream::CopyStream;
pub use host::ALIGNMENT;
pub(crate) use host::required_alignment;

/// Checks that the build has a back end for a device.
///
/// # Errors
/// InternalError if it has none.
pub(super) fn check(device: DLDevice) -> Result<()> {
    if device.device_type == CPU { Ok(()) } else { device::get(device.device_type).map(drop) }
}

/// Allocates a block on a device.
///
/// # Errors
/// MemoryError; InternalError if the build has no back end for the device; errors of its driver.
pub(super) fn allocate(device: DLDevice, bytes: usize) -> Result<*mut c_void> {
    if device.device_type == CPU {
        return host::allocate(bytes);
    }
    device::get(device.device_type)?.allocate(device.device_id, bytes, ALIGNMENT)
}

/// Frees a block of `bytes` bytes.
///
/// # Safety
/// The block must come from [`allocate`] for the same device and size, and must not be used
/// afterwards.
pub(super) unsafe fn free(device: DLDevice, block: *mut c_void, bytes: usize) {
    if device.device_type == CPU {
        // SAFETY: as the caller guarantees.
        unsafe { host::free(block, bytes) };
    } else if let Some(backend) = device::find(device.device_type) {
        // SAFETY: as the caller guarantees.
        unsafe { backend.free(device.device_id, block) };
    }
}

/// Gives freed memory that the back end of a device keeps back to its driver. Errors are ignored:
/// then it keeps the memory.
pub(super) fn release_unused(device: DLDevice) {
    if let Some(backend) = device::find(device.device_type) {
        let _ = backend.release_unused_memory(device.device_id);
    }
}

/// Copies the content of a compact tensor to another one of the same size, on any devices. Main
/// memory is no longer in use when this returns.
///
/// # Errors
/// ValueError for tensors that are not compact or differ in size; InternalError for a device
/// without a back end; errors of the driver.
///
/// # Safety
/// Both tensors must be valid; no other code may use the data of the destination.
pub unsafe fn copy(from: &DLTensor, to: &DLTensor) -> Result<()> {
    let source = from.device;
    // SAFETY: as the caller guarantees; the null stream is the default one.
    unsafe {
        device::copy_tensor(from, to, core::ptr::null_mut())?;
        if device::uses_main_memory_later(source.device_type, to.device.device_type) {
            let device =
                if device::is_main_memory(source.device_type) { to.device } else { source };
            device::get(device.device_type)?
                .synchronize(device.device_id, core::ptr::null_mut())?;
        }
    }
    Ok(())
}

/// Queues a copy of a compact tensor to another one of the same size on the current stream of the
/// device. A source in main memory has been read when this returns.
///
/// # Errors
/// Same errors as [`copy`].
///
/// # Safety
/// Both tensors must be valid; no other code may use the data of the destination, except for
/// commands that are on the stream already.
#[cfg(feature = "kv-cache")]
pub(crate) unsafe fn send(from: &DLTensor, to: &DLTensor) -> Result<()> {
    use ferrite_alloc_ext::device::{Device, stream};
    // A copy between devices is one of the source.
    let device = if device::is_main_memory(from.device.device_type) { to } else { from }.device;
    // SAFETY: as the caller guarantees; the stream is the device's.
    unsafe { device::copy_tensor(from, to, stream::current(Device::from(device))) }
}
