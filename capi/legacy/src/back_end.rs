//! Device back ends by type, except for the CPU, and waits for their streams.

use core::ffi::{c_int, c_void};

use ferrite_alloc_ext::device::{self, Backend};
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;

/// Returns the back end for a device type; `None` for the CPU.
///
/// # Errors
/// The error of [`device::get`] for a device type without a back end.
pub(super) fn backend_of(device_type: c_int) -> Result<Option<&'static dyn Backend>> {
    if device_type == kind::CPU { Ok(None) } else { device::get(device_type).map(Some) }
}

/// Waits until all work queued on a stream is complete.
///
/// # Safety
/// `stream` must be null or a stream of the device.
pub(super) unsafe fn synchronize(device: DLDevice, stream: *mut c_void) -> Result<()> {
    match backend_of(device.device_type)? {
        // SAFETY: the caller guarantees the stream.
        Some(backend) => unsafe { backend.synchronize(device.device_id, stream) },
        None => Ok(()),
    }
}
