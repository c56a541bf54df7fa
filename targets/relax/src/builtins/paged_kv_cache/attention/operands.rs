//! Tensors that a model passes to attention.

use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
use ferrite_core::{AnyView, Tensor, plain_ensure, plain_error};

use crate::builtins::arguments::borrowed;
use crate::builtins::paged_kv_cache::config::Config;
use crate::memory::{Placement, tensor_over};

/// Returns a tensor argument, borrowed.
///
/// # Errors
/// TypeError for any other value.
#[inline]
pub(super) fn tensor<'a>(argument: &'a AnyView<'_>) -> Result<&'a Tensor> {
    borrowed::<Tensor>(argument)
}

/// Returns the number of rows of a tensor.
#[inline]
pub(super) fn rows(tensor: &Tensor) -> i64 {
    tensor.shape().first().copied().unwrap_or(0)
}

/// Checks that a tensor is compact, on the device of the cache, of its element type, and that its
/// rows have these extents.
///
/// # Errors
/// InternalError otherwise.
#[inline]
pub(super) fn check_tensor(
    config: &Config,
    name: &'static str,
    tensor: &Tensor,
    extents: &[i64],
) -> Result<()> {
    let device = tensor.device();
    if tensor.dtype() == config.dtype
        && tensor.shape().get(1..) == Some(extents)
        && (device.device_type, device.device_id)
            == (config.device.device_type, config.device.device_id)
        && tensor.is_contiguous()
    {
        return Ok(());
    }
    Err(wrong_tensor(config, name, tensor, extents))
}

#[cold]
fn wrong_tensor(config: &Config, name: &'static str, tensor: &Tensor, extents: &[i64]) -> Error {
    if tensor.dtype() != config.dtype {
        return plain_error!(
            INTERNAL_ERROR,
            "Check failed: ({}.DataType() == pages.DataType()) is false: ",
            name
        );
    }
    let shape = tensor.shape();
    if shape.len() != extents.len() + 1 {
        return plain_error!(
            INTERNAL_ERROR,
            "Check failed: {}->ndim == {} ({} vs. {}) : ",
            name,
            extents.len() + 1,
            shape.len(),
            extents.len() + 1
        );
    }
    let pairs = shape.iter().skip(1).zip(extents);
    for (dimension, (found, expected)) in (1..).zip(pairs) {
        if found != expected {
            return plain_error!(
                INTERNAL_ERROR,
                "Check failed: {}->shape[{}] == {} ({} vs. {}) : ",
                name,
                dimension as usize,
                expected,
                found,
                expected
            );
        }
    }
    plain_error!(INTERNAL_ERROR, "{} must be compact, and on the device of the KV cache", name)
}

/// Checks that a tensor has the rows of the step.
///
/// # Errors
/// InternalError otherwise.
pub(super) fn check_rows(name: &'static str, tensor: &Tensor, expected: i64) -> Result<()> {
    let found = rows(tensor);
    plain_ensure!(
        found == expected,
        INTERNAL_ERROR,
        "Check failed: {}->shape[0] == total_seq_length ({} vs. {}) : ",
        name,
        &found,
        &expected
    );
    Ok(())
}

/// Returns the first `count` rows of a compact tensor: the tensor itself, or a view in `place`.
///
/// # Errors
/// MemoryError.
#[inline]
pub(super) fn first_rows<'a>(
    tensor: &'a Tensor,
    count: i64,
    place: &'a mut Option<Tensor>,
) -> Result<&'a Tensor> {
    if rows(tensor) == count {
        return Ok(tensor);
    }
    let whole = tensor.dl_tensor();
    let mut shape = [0; 3];
    let shape = &mut shape[..tensor.shape().len().min(3)];
    shape.copy_from_slice(&tensor.shape()[..shape.len()]);
    if let Some(first) = shape.first_mut() {
        *first = count;
    }
    let placement = Placement {
        data: whole.data,
        byte_offset: whole.byte_offset,
        device: whole.device,
        dtype: whole.dtype,
    };
    // SAFETY: the tensor is compact and has more rows.
    let view = unsafe { tensor_over(Some(tensor.as_object()), &placement, shape)? };
    Ok(place.insert(view))
}
