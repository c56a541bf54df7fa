//! Copies between devices, and between a device and main memory.

use core::ffi::c_void;

use ferrite_core::abi::DLTensor;
use ferrite_core::error::Result;
use ferrite_core::tensor::{TensorRef, TensorView};
use ferrite_core::value::device;
use ferrite_core::{plain_bail, plain_ensure};

use super::backend::Region;
use super::handle::Device;
use super::table::get;

/// Returns `true` if the CPU can access the memory of a device type. That includes pinned memory,
/// which is copied without the device.
pub const fn is_main_memory(device_type: i32) -> bool {
    matches!(device_type, device::kind::CPU | device::kind::CUDA_HOST | device::kind::ROCM_HOST)
}

/// Returns `true` if main memory may still be in use when a [`copy`] between these device types
/// returns: a target is written, and pinned memory is read, until the stream is synchronised. A
/// source of type CPU has been read.
pub const fn uses_main_memory_later(source: i32, target: i32) -> bool {
    match (is_main_memory(source), is_main_memory(target)) {
        (true, false) => source != device::kind::CPU,
        (false, true) => true,
        _ => false,
    }
}

/// Copies `bytes` bytes between two regions, on a stream of the device. A copy to main memory,
/// or from pinned memory, may be incomplete until the stream is synchronised. Copies within main
/// memory use no stream.
///
/// # Errors
/// InternalError if the build has no back end for the device; RuntimeError for devices of two
/// different types, neither in main memory; errors of the driver.
///
/// # Safety
/// Both regions must be at least `bytes` long, and `stream` must belong to the device.
pub unsafe fn copy(from: Region, to: Region, bytes: usize, stream: *mut c_void) -> Result<()> {
    let (source, target) = (from.device.device_type, to.device.device_type);
    match (is_main_memory(source), is_main_memory(target)) {
        (true, true) => {
            // SAFETY: the caller guarantees both regions, which may overlap.
            unsafe {
                let start = from.data.cast::<u8>().add(from.offset);
                start.copy_to(to.data.cast::<u8>().add(to.offset), bytes);
            }
            Ok(())
        }
        // SAFETY: the caller guarantees regions and stream.
        (false, true) => unsafe { get(source)?.copy(from, to, bytes, stream) },
        // SAFETY: as above.
        (true, false) => unsafe { get(target)?.copy(from, to, bytes, stream) },
        // SAFETY: as above.
        (false, false) if source == target => unsafe { get(source)?.copy(from, to, bytes, stream) },
        (false, false) => plain_bail!(
            RUNTIME_ERROR,
            "Cannot copy from device type {} to {}: copy by way of main memory",
            source,
            target
        ),
    }
}

/// Completes copies that were queued on the current stream of a device: waits for the stream. If
/// the device cannot be waited for, keeps `target` alive until the copies are complete.
///
/// # Errors
/// RuntimeError if the device cannot be waited for and main memory without an owner is written;
/// MemoryError; errors of the driver.
pub fn finish_copy(device: Device, target: TensorView<'_>) -> Result<()> {
    let (device_type, id) = (device.device_type(), device.id());
    if device.can_wait() {
        return device.synchronize();
    }
    if !is_main_memory(target.as_tensor_ref().device().device_type) {
        return Ok(());
    }
    match target.to_owner() {
        Some(owner) => get(device_type)?.keep_until_copied(id, owner),
        None => plain_bail!(
            RUNTIME_ERROR,
            "A copy that is not waited for needs a tensor object as its target"
        ),
    }
}

/// Copies the elements of one tensor to another. Both must be contiguous and have the same size in
/// bytes.
///
/// # Errors
/// ValueError for a tensor that is not contiguous, and for different sizes; errors of [`copy`].
///
/// # Safety
/// Both tensors must be valid, and `stream` must belong to the device.
///
/// # Upstream
/// `Tensor::CopyFromTo` of `src/runtime/tensor.cc`.
pub unsafe fn copy_tensor(from: &DLTensor, to: &DLTensor, stream: *mut c_void) -> Result<()> {
    // SAFETY: the caller guarantees valid tensors.
    let (bytes, room) = unsafe { (contiguous_bytes(from)?, contiguous_bytes(to)?) };
    plain_ensure!(
        bytes == room,
        VALUE_ERROR,
        "The size in bytes of the source ({}) and of the target ({}) must be the same",
        bytes,
        room
    );
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller guarantees valid tensors, whose sizes were checked above.
    unsafe { copy(region(from), region(to), bytes, stream) }
}

/// Returns the memory region of a tensor.
fn region(tensor: &DLTensor) -> Region {
    Region { device: tensor.device, data: tensor.data, offset: tensor.byte_offset as usize }
}

/// Returns the size in bytes of a contiguous tensor; ValueError for other tensors.
///
/// # Safety
/// The tensor must be valid.
unsafe fn contiguous_bytes(tensor: &DLTensor) -> Result<usize> {
    // SAFETY: the caller guarantees a valid tensor.
    let reader = unsafe { TensorRef::from_raw(tensor) };
    plain_ensure!(reader.is_contiguous(), VALUE_ERROR, "Copies need contiguous tensors");
    match reader.size_bytes() {
        Some(bytes) => Ok(bytes),
        None => plain_bail!(VALUE_ERROR, "The tensor has more bytes than memory"),
    }
}
