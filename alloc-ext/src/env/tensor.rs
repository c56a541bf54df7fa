//! Tensors that the environment allocates.

use core::ptr;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::tensor::{Element, Output, Tensor, TensorRef};
use ferrite_core::value::device;
use ferrite_core::{plain_bail, plain_error};

use super::tensor_alloc;

/// Creates a compact row-major tensor with the environment's allocator: that of PyTorch, for
/// instance, if its tensors are arguments of the current call. Without an allocator, the library
/// allocates tensors in main memory, and the device's back end all others.
///
/// The elements are unspecified. Kernels create their results with this function, so that these
/// belong to the caller's framework.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::env;
/// use ferrite_core::Tensor;
///
/// /// Returns twice x.
/// fn twice(x: Tensor) -> ferrite_core::Result<Tensor> {
///     let y = env::tensor::empty_like(&x)?;
///     let x = x.as_slice::<f32>()?;
///     y.borrow_mut::<f32>()?.iter_mut().zip(&x).for_each(|(y, x)| *y = 2.0 * x);
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
/// ValueError for an invalid shape; RuntimeError if nothing allocates on the device; errors of the
/// allocator; MemoryError.
///
/// # Upstream
/// `TVMFFIEnvTensorAlloc`, which raises an error without an allocator; `Tensor::FromEnvAlloc` in
/// C++.
pub fn empty(shape: &[i64], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
    if tensor_alloc::get().is_none() && device.device_type == device::kind::CPU {
        return Tensor::empty(shape, dtype, device);
    }
    let ndim = i32::try_from(shape.len()).map_err(|_| {
        plain_error!(VALUE_ERROR, "The tensor has too many dimensions: {}", shape.len())
    })?;
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

/// Lets `write` fill the output of a kernel: the caller's tensor, or a new one that belongs to the
/// framework of `like`, as [`empty`] makes it. Returns the new tensor; `None` if the caller gave
/// one.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::env;
/// use ferrite_core::tensor::{Input, Output};
/// use ferrite_core::{Function, Result, Tensor};
///
/// /// Returns the sum of each row, or writes it to `out`.
/// fn sums(x: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
///     let ([rows, columns], elements) = x.array::<f32, 2>()?;
///     env::tensor::output(out, x.tensor(), &[rows], |out: &mut [f32]| {
///         for (row, out) in out.iter_mut().enumerate() {
///             *out = elements[row * columns..][..columns].iter().sum();
///         }
///     })
/// }
///
/// # fn main() -> Result<()> {
/// let (x, out) = (Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?, Tensor::from_slice(&[0.0f32; 2], &[2])?);
/// let sums = Function::from_typed(sums)?;
/// assert_eq!(sums.call::<Tensor>((&x, ()))?.as_slice::<f32>()?, [3.0, 7.0]);
/// sums.call::<()>((&x, &out))?;
/// assert_eq!(out.as_slice::<f32>()?, [3.0, 7.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// ValueError and TypeError if the caller's tensor has another shape, or if its elements are not a
/// slice of `T`; errors of [`empty`].
pub fn output<T: Element>(
    mut out: Option<Output<'_>>,
    like: TensorRef<'_>,
    shape: &[usize],
    write: impl FnOnce(&mut [T]),
) -> Result<Option<Tensor>> {
    let mut made = None;
    write(output_elements(&mut out, &mut made, like, shape)?);
    Ok(made)
}

/// Returns the elements of the caller's tensor, or of a new one, which it stores.
#[inline(never)]
fn output_elements<'a, T: Element>(
    out: &'a mut Option<Output<'_>>,
    made: &'a mut Option<Tensor>,
    like: TensorRef<'_>,
    shape: &[usize],
) -> Result<&'a mut [T]> {
    if let Some(out) = out {
        return out.elements_mut(shape);
    }
    let made = made.insert(empty_of(shape, T::DTYPE, like.device())?);
    // SAFETY: the tensor is new, so that nothing else uses its elements.
    unsafe { made.as_mut_slice() }
}

/// Creates a tensor as [`empty`] does.
#[inline(never)]
fn empty_of(shape: &[usize], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
    const MOST: usize = 8;
    let mut extents = [0; MOST];
    let Some(extents) = extents.get_mut(..shape.len()) else {
        plain_bail!(VALUE_ERROR, "The tensor has too many dimensions: {}", shape.len());
    };
    for (extent, wanted) in extents.iter_mut().zip(shape) {
        *extent = *wanted as i64;
    }
    empty(extents, dtype, device)
}
