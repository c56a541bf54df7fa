//! Views of tensors, and a test for shared storage.

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::{Tensor, TensorRef, TensorView, check_shape};
use ferrite_core::value::shape::{Shape, row_major_strides_reversed};
use ferrite_core::{plain_bail, plain_ensure};

/// Creates a view with the given shape and dtype of the bytes at `offset` after a tensor's first
/// element. The view keeps the tensor alive.
pub(super) fn create_view(
    tensor: Tensor,
    shape: Shape,
    dtype: DLDataType,
    offset: i64,
) -> Result<Tensor> {
    let (source, shape) = (tensor.as_tensor_ref(), shape.as_slice());
    plain_ensure!(source.is_contiguous(), INTERNAL_ERROR, "A view needs a contiguous tensor");
    let mut strides: Buffer<i64> = Buffer::new();
    strides.try_resize(shape.len(), 0)?;
    for (target, stride) in strides.iter_mut().rev().zip(row_major_strides_reversed(shape)) {
        *target = stride;
    }
    let mut prototype = *tensor.dl_tensor();
    prototype.dtype = dtype;
    prototype.ndim = shape.len() as i32; // `Shape` has fewer extents than memory has bytes, and `check_shape` checks the sign.
    prototype.shape = shape.as_ptr().cast_mut();
    prototype.strides = strides.as_mut_slice().as_mut_ptr();
    // SAFETY: the prototype refers to `shape` and `strides`.
    let bytes = unsafe {
        check_shape(&prototype)?;
        byte_count(TensorRef::from_raw(&prototype))?
    };
    let available = byte_count(source)?;
    let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(bytes));
    let Some(byte_offset) = prototype.byte_offset.checked_add_signed(offset) else {
        plain_bail!(VALUE_ERROR, "The offset {} is beyond all memory", &offset);
    };
    plain_ensure!(
        end.is_some_and(|end| end <= available),
        VALUE_ERROR,
        "A view of {} bytes at offset {} does not fit in a tensor of {} bytes",
        &bytes,
        &offset,
        &available
    );
    prototype.byte_offset = byte_offset;
    // SAFETY: the arrays have `ndim` values, and the bytes belong to `tensor`.
    unsafe { tensor.create_unsafe_view(&prototype) }
}

/// Returns `true` if both tensors occupy the same bytes of the same device.
pub(super) fn is_storage_shared(one: TensorView<'_>, other: TensorView<'_>) -> Result<bool> {
    Ok(span(one)? == span(other)?)
}

/// Returns the device type, device id, start address and size in bytes of a tensor.
fn span(tensor: TensorView<'_>) -> Result<(i32, i32, u64, u64)> {
    let reader = tensor.as_tensor_ref();
    let device = reader.device();
    let start = (reader.data_ptr().addr() as u64).wrapping_add(reader.byte_offset());
    Ok((device.device_type, device.device_id, start, byte_count(reader)?))
}

fn byte_count(tensor: TensorRef<'_>) -> Result<u64> {
    match tensor.size_bytes() {
        Some(bytes) => Ok(bytes as u64),
        None => plain_bail!(VALUE_ERROR, "The tensor has more bytes than memory"),
    }
}
