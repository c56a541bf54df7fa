//! Copies between arrays and main memory.

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Region};
use ferrite_alloc_ext::env::stream;
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::tensor::TensorRef;
use ferrite_core::value::device::kind;
use ferrite_core::value::shape::data_size_bytes;

use super::back_end::synchronize;
use super::crossing;
use ferrite_boundary::{self as boundary, arg};

const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Parameters of a copy between an array and main memory.
pub(super) struct Copy {
    pub(super) array: *mut DLTensor,
    pub(super) data: *mut c_void,
    pub(super) bytes: usize,
}

impl Copy {
    /// Copies main memory to the array.
    ///
    /// # Safety
    /// The array must be null or valid, and `data` must point to `bytes` bytes.
    pub(super) unsafe fn fill(self) -> Result<()> {
        // SAFETY: the caller guarantees array and memory.
        unsafe { self.run(|memory, array| (memory, array)) }
    }

    /// Copies the array to main memory.
    ///
    /// # Safety
    /// Same requirements as [`Copy::fill`].
    pub(super) unsafe fn read(self) -> Result<()> {
        // SAFETY: the caller guarantees array and memory.
        unsafe { self.run(|memory, array| (array, memory)) }
    }

    /// Copies in the direction that `direction` selects, and waits until the copy is complete.
    ///
    /// # Safety
    /// Same requirements as [`Copy::fill`].
    unsafe fn run(self, direction: impl FnOnce(Region, Region) -> (Region, Region)) -> Result<()> {
        // SAFETY: the caller guarantees the array.
        let array = unsafe {
            let array = boundary::reference(self.array, arg(1, "handle"))?;
            check_bytes(array, self.bytes)?;
            array
        };
        if self.bytes == 0 {
            return Ok(());
        }
        boundary::non_null(self.data, arg(2, "data"))?;
        let memory = Region { device: CPU, data: self.data, offset: 0 };
        let region =
            Region { device: array.device, data: array.data, offset: array.byte_offset as usize };
        let (from, to) = direction(memory, region);
        let stream =
            stream::get(stream::DeviceKey::new(array.device.device_type, array.device.device_id));
        // SAFETY: the caller guarantees the memory; the array has as many bytes.
        unsafe {
            device::copy(from, to, self.bytes, stream)?;
            synchronize(array.device, stream)
        }
    }
}

/// Checks that a tensor is contiguous and has exactly `bytes` bytes; returns ValueError otherwise.
///
/// # Safety
/// The tensor must be valid.
unsafe fn check_bytes(tensor: &DLTensor, bytes: usize) -> Result<()> {
    // SAFETY: the caller guarantees the tensor.
    let reader = unsafe { TensorRef::from_raw(tensor) };
    plain_ensure!(reader.is_contiguous(), VALUE_ERROR, "Copies need contiguous arrays");
    // SAFETY: the caller guarantees a valid array.
    let size = data_size_bytes(reader.shape(), unsafe { crossing::storage_type(tensor) });
    plain_ensure!(
        size == Some(bytes),
        VALUE_ERROR,
        "The array has {} bytes, not {}",
        size.unwrap_or(usize::MAX),
        bytes
    );
    Ok(())
}
