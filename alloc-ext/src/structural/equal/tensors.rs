//! Tensors by shape, dtype and content.

use core::slice;

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{plain_ensure, plain_error, type_index};

use crate::containers::key;
use crate::dataclass::{combine, type_key_hash};

/// The code of memory of the host.
const CPU: i32 = 1;

/// Whether two tensors are equal.
///
/// # Errors
///
/// InternalError when their content counts, but is not in memory of the host, or not compact.
pub(super) fn equal(lhs: &Any, rhs: &Any, skip_content: bool) -> Result<bool> {
    let (left, right) = (tensor_of(lhs)?, tensor_of(rhs)?);
    if core::ptr::eq(left.as_raw(), right.as_raw()) {
        return Ok(true);
    }
    if left.shape() != right.shape() || left.dtype() != right.dtype() {
        return Ok(false);
    }
    if skip_content {
        return Ok(true);
    }
    ensure_on_host(left, "lhs", "compare")?;
    ensure_on_host(right, "rhs", "compare")?;
    ensure_contiguous(left, "lhs", "compare")?;
    ensure_contiguous(right, "rhs", "compare")?;
    Ok(content(left)? == content(right)?)
}

/// The hash of a tensor.
///
/// # Errors
///
/// As for [`equal`].
pub(super) fn hash(value: &Any, skip_content: bool) -> Result<u64> {
    let tensor = tensor_of(value)?;
    let (shape, dtype) = (tensor.shape(), tensor.dtype());
    let hash = combine(type_key_hash(type_index::TENSOR), shape.len() as u64);
    let hash = shape.iter().fold(hash, |hash, extent| combine(hash, *extent as u64));
    let hash = combine(hash, Any::from(dtype).view().payload_bits());
    if skip_content {
        return Ok(hash);
    }
    ensure_on_host(tensor, "tensor", "hash")?;
    ensure_contiguous(tensor, "tensor", "hash")?;
    Ok(combine(hash, key::hash_bytes(content(tensor)?)))
}

fn tensor_of(value: &Any) -> Result<TensorRef<'_>> {
    // SAFETY: the lifetime of the view is that of the value, which keeps the tensor alive.
    TensorRef::from_view(&value.view()).ok_or_else(|| plain_error!(TYPE_ERROR, "Expected a tensor"))
}

fn ensure_on_host(tensor: TensorRef<'_>, name: &str, verb: &str) -> Result<()> {
    let device = tensor.device().device_type;
    plain_ensure!(
        device == CPU,
        INTERNAL_ERROR,
        "Check failed: {}.device().device_type == kDLCPU ({} vs. {}) : can only {} CPU tensor",
        name,
        device,
        CPU,
        verb
    );
    Ok(())
}

fn ensure_contiguous(tensor: TensorRef<'_>, name: &str, verb: &str) -> Result<()> {
    plain_ensure!(
        tensor.is_contiguous(),
        INTERNAL_ERROR,
        "Check failed: ({}.IsContiguous()) is false: Can only {} contiguous tensor",
        name,
        verb
    );
    Ok(())
}

/// As many bytes as the elements have, from the data pointer on: a byte offset does not count, as upstream has it.
fn content(tensor: TensorRef<'_>) -> Result<&[u8]> {
    let size = tensor
        .size_bytes()
        .ok_or_else(|| plain_error!(VALUE_ERROR, "the tensor has more elements than memory can hold"))?;
    let data = tensor.data_ptr().cast::<u8>();
    if size == 0 {
        return Ok(&[]);
    }
    plain_ensure!(!data.is_null(), VALUE_ERROR, "the tensor has no data");
    // SAFETY: whoever made the tensor vouches that the memory of a compact tensor on the host holds its elements, at the
    // data pointer or behind it, and that nobody writes them now.
    Ok(unsafe { slice::from_raw_parts(data, size) })
}
