//! Tensors that the environment allocates.

use core::ptr;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::device;
use ferrite_core::error::Result;
use ferrite_core::plain_error;
use ferrite_core::tensor::Tensor;

use super::tensor_alloc;

/// Creates a compact row-major tensor with the environment's allocator: that of PyTorch, for instance, if its tensors are arguments of
/// the current call. Without an allocator, tensors in main memory are the library's own, and those on devices their back end's.
///
/// The elements are unspecified. Kernels create their results with this function, so that these belong to the caller's framework.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::env;
/// use ferrite_core::Tensor;
///
/// /// Returns twice x.
/// fn twice(x: Tensor) -> ferrite_core::Result<Tensor> {
///     let y = env::tensor::empty_like(&x)?;
///     // SAFETY: nothing else uses the new tensor yet.
///     let elements = unsafe { y.as_tensor_ref().as_mut_slice::<f32>()? };
///     elements.iter_mut().zip(x.as_slice::<f32>()?).for_each(|(y, x)| *y = 2.0 * x);
///     Ok(y)
/// }
///
/// # fn main() -> ferrite_core::Result<()> {
/// assert_eq!(twice(Tensor::from_slice(&[1.0f32, 2.0], &[2])?)?.as_slice::<f32>()?, [2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError for an invalid shape; RuntimeError if nothing allocates on the device; errors of the allocator; MemoryError.
///
/// # Upstream
/// `TVMFFIEnvTensorAlloc`, which raises an error without an allocator; `Tensor::FromEnvAlloc` in C++.
pub fn empty(shape: &[i64], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
    if tensor_alloc::get().is_none() && device.device_type == device::kind::CPU {
        return Tensor::empty(shape, dtype, device);
    }
    let ndim = i32::try_from(shape.len())
        .map_err(|_| plain_error!(VALUE_ERROR, "The tensor has too many dimensions: {}", shape.len()))?;
    let mut prototype = DLTensor {
        data: ptr::null_mut(),
        device,
        ndim,
        dtype,
        shape: shape.as_ptr().cast_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    // SAFETY: the prototype has `ndim` extents, which allocators only read.
    unsafe { tensor_alloc::allocate(&mut prototype) }
}

/// Creates a compact tensor with the shape, dtype and device of another one, as [`empty`] does.
///
/// # Errors
/// Errors of [`empty`].
pub fn empty_like(tensor: &Tensor) -> Result<Tensor> {
    empty(tensor.shape(), tensor.dtype(), tensor.device())
}
