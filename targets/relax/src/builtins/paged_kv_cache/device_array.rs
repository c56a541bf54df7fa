//! Arrays of int32 on the device of a cache, for calls outside of steps.

use ferrite_core::Tensor;
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::Element;
use ferrite_core::value::device::kind::CPU;

use crate::memory::{empty, send};

/// Creates a tensor of numbers on a device.
///
/// # Errors
/// MemoryError; errors of the device.
pub(super) fn vector(values: &[i32], device: DLDevice) -> Result<Tensor> {
    filled(values, &[values.len() as i64], device)
}

/// Creates a tensor of two rows on a device. Appends the second row to the first one.
///
/// # Errors
/// MemoryError; errors of the device.
pub(super) fn matrix(first: &mut Buffer<i32>, second: &[i32], device: DLDevice) -> Result<Tensor> {
    let columns = first.len() as i64;
    first.try_extend_from_slice(second)?;
    filled(first, &[2, columns], device)
}

fn filled(values: &[i32], shape: &[i64], device: DLDevice) -> Result<Tensor> {
    let tensor = empty(shape, i32::DTYPE, device)?;
    let source = DLTensor {
        data: values.as_ptr().cast_mut().cast(),
        byte_offset: 0,
        device: DLDevice { device_type: CPU, device_id: 0 },
        ..*tensor.dl_tensor()
    };
    // SAFETY: both have as many elements, and nobody else knows the tensor.
    unsafe { send(&source, tensor.dl_tensor())? };
    Ok(tensor)
}
