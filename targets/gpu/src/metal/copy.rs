//! Copies between regions on Metal devices and in main memory.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::Region;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_bail, plain_ensure};

use super::platform::{self, Device};

/// Returns the device and the buffer of a region; `None` if the region is in main memory.
fn buffer(region: &Region) -> Result<Option<(&'static Device, NonNull<c_void>)>> {
    if region.device.device_type != kind::METAL {
        return Ok(None);
    }
    let device = platform::device(region.device.device_id)?;
    match NonNull::new(region.data) {
        Some(data) => Ok(Some((device, data))),
        None => plain_bail!(VALUE_ERROR, "A copy needs memory of the device, not null"),
    }
}

/// Copies bytes. Copies to main memory are complete on return, and main memory that is the source
/// may be reused. Copies within a device are queued.
///
/// # Errors
/// Errors of the driver, including failures of kernels queued before; InternalError if neither
/// region is on a device; MemoryError for the shared buffer.
///
/// # Safety
/// Both regions must have `bytes` bytes; `stream` must be null or belong to the device, or to the
/// source's device if both regions are on devices.
pub(super) unsafe fn copy(
    from: Region,
    to: Region,
    bytes: usize,
    stream: *mut c_void,
) -> Result<()> {
    let (source, target) = (buffer(&from)?, buffer(&to)?);
    plain_ensure!(
        source.is_some() || target.is_some(),
        INTERNAL_ERROR,
        "A copy of Metal needs memory of its devices"
    );
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller guarantees regions and stream.
    unsafe {
        match (source, target) {
            (Some((device, buffer)), None) => {
                device.read(stream, buffer, from.offset, to.data.cast::<u8>().add(to.offset), bytes)
            }
            (None, Some((device, buffer))) => device.write(
                stream,
                from.data.cast::<u8>().add(from.offset),
                buffer,
                to.offset,
                bytes,
            ),
            (Some((device, source)), Some((other, target))) if ptr::eq(device, other) => {
                device.copy(stream, (source, from.offset), (target, to.offset), bytes)
            }
            (Some((device, source)), Some((other, target))) => {
                let mut staging = Buffer::new();
                staging.try_resize(bytes, 0u8)?;
                device.read(
                    stream,
                    source,
                    from.offset,
                    staging.as_mut_slice().as_mut_ptr(),
                    bytes,
                )?;
                other.write(ptr::null_mut(), staging.as_ptr(), target, to.offset, bytes)
            }
            (None, None) => Ok(()),
        }
    }
}
