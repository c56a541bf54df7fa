//! Memory blocks and copies in builds without devices, in main memory alone.

#[path = "host.rs"]
mod host;

use core::ffi::c_void;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::tensor::TensorRef;
use ferrite_core::value::device::kind::CPU;
use ferrite_core::{Tensor, plain_bail, plain_ensure};

pub use host::ALIGNMENT;
pub(crate) use host::required_alignment;

/// Checks that a device is the CPU.
///
/// # Errors
/// InternalError for any other device.
pub(super) fn check(device: DLDevice) -> Result<()> {
    plain_ensure!(
        device.device_type == CPU,
        INTERNAL_ERROR,
        "Device {} is not enabled.",
        device.device_type
    );
    Ok(())
}

/// Allocates a block in main memory.
///
/// # Errors
/// MemoryError.
pub(super) fn allocate(_device: DLDevice, bytes: usize) -> Result<*mut c_void> {
    host::allocate(bytes)
}

/// Frees a block of `bytes` bytes.
///
/// # Safety
/// The block must come from [`allocate`] with this size, and must not be used afterwards.
pub(super) unsafe fn free(_device: DLDevice, block: *mut c_void, bytes: usize) {
    // SAFETY: as the caller guarantees.
    unsafe { host::free(block, bytes) };
}

/// Does nothing: freed main memory is not kept.
pub(super) fn release_unused(_device: DLDevice) {}

/// Copies the content of a compact tensor to another one of the same size.
///
/// # Errors
/// ValueError for tensors that are not compact or differ in size.
///
/// # Safety
/// Both tensors must be valid and in main memory; no other code may use the data of the
/// destination.
pub unsafe fn copy(from: &DLTensor, to: &DLTensor) -> Result<()> {
    // SAFETY: as the caller guarantees.
    let readers = unsafe { [TensorRef::from_raw(from), TensorRef::from_raw(to)] };
    let [source, target] =
        readers.map(|tensor| tensor.size_bytes().filter(|_| tensor.is_contiguous()));
    let (Some(bytes), true) = (source, source == target) else {
        plain_bail!(VALUE_ERROR, "Copies need compact tensors of one size");
    };
    // SAFETY: both are compact and have that many bytes; the caller guarantees the rest.
    unsafe {
        let data = from.data.cast::<u8>().add(from.byte_offset as usize);
        data.copy_to(to.data.cast::<u8>().add(to.byte_offset as usize), bytes);
    }
    Ok(())
}

/// Creates a compact row-major tensor of zeros in main memory.
///
/// # Errors
/// Same errors as [`Tensor::empty`].
pub fn empty(shape: &[i64], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
    Tensor::empty(shape, dtype, device)
}

/// Copies the content of a compact tensor to another one of the same size.
///
/// # Errors
/// Same errors as [`copy`].
///
/// # Safety
/// The caller must meet the requirements of [`copy`].
#[cfg(feature = "kv-cache")]
pub(crate) unsafe fn send(from: &DLTensor, to: &DLTensor) -> Result<()> {
    // SAFETY: as the caller guarantees.
    unsafe { copy(from, to) }
}

/// Stream of copies to a device: none, since there is main memory alone.
#[cfg(feature = "kv-cache")]
pub(crate) struct CopyStream;

#[cfg(feature = "kv-cache")]
impl CopyStream {
    /// Creates the stream of main memory.
    ///
    /// # Errors
    /// None.
    pub(crate) fn new(_device: DLDevice) -> Result<CopyStream> {
        Ok(CopyStream)
    }

    /// Does nothing.
    ///
    /// # Errors
    /// None.
    pub(crate) fn wait_for_kernels(&self) -> Result<()> {
        Ok(())
    }

    /// Copies the content of a compact tensor to another one of the same size.
    ///
    /// # Errors
    /// Same errors as [`copy`].
    ///
    /// # Safety
    /// The caller must meet the requirements of [`copy`].
    pub(crate) unsafe fn send(&self, from: &DLTensor, to: &DLTensor) -> Result<()> {
        // SAFETY: as the caller guarantees.
        unsafe { copy(from, to) }
    }
}
