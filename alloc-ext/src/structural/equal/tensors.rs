//! Structural equality and hash of tensors by shape, dtype and content.

use core::slice;

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::tensor::{TensorRef, TensorView};
use ferrite_core::value::any::{Any, AnyView};
use ferrite_core::value::shape::Shape;
use ferrite_core::{plain_ensure, plain_error};

use crate::containers::key;
use crate::dataclass::combine;

/// Device type of CPU memory.
const CPU: i32 = 1;

/// Returns the dimensions of a shape or tensor; `None` for other values.
pub(super) fn extents(value: &Any) -> Option<&[i64]> {
    match value.type_index() {
        type_index::SHAPE => value.as_object()?.as_class().map(Shape::as_slice),
        type_index::TENSOR => {
            Some(TensorRef::from_view(value.as_view()).map_or(&[], TensorRef::shape))
        }
        _ => None,
    }
}

/// Returns `true` if two shapes or tensors have the same dimensions.
pub(super) fn same_extents(lhs: &Any, rhs: &Any) -> bool {
    extents(lhs) == extents(rhs)
}

/// Returns `true` if two tensors of the same shape have the same dtype and, unless `skip_content`
/// is set, the same content.
///
/// # Errors
/// InternalError if the content must be compared but is not contiguous in CPU memory; ValueError if
/// the size overflows or the data pointer is null; TypeError if a value is not a tensor;
/// RuntimeError while the elements are borrowed for writing.
pub(super) fn equal_content(lhs: &Any, rhs: &Any, skip_content: bool) -> Result<bool> {
    let (left, right) = (tensor_of(lhs)?, tensor_of(rhs)?);
    if core::ptr::eq(left.as_ptr(), right.as_ptr()) {
        return Ok(true);
    }
    let same_type = left.as_tensor_ref().dtype() == right.as_tensor_ref().dtype();
    if skip_content || !same_type {
        return Ok(same_type);
    }
    ensure_readable(&[(left.as_tensor_ref(), "lhs"), (right.as_tensor_ref(), "rhs")], "compare")?;
    let _guards = (left.read_guard()?, right.read_guard()?);
    // SAFETY: nobody writes the elements while they are borrowed.
    unsafe { Ok(content(left.as_tensor_ref())? == content(right.as_tensor_ref())?) }
}

/// Returns the hash of a tensor, given the hash of its shape.
///
/// # Errors
/// Errors of [`equal_content`].
pub(super) fn hash_content(hash: u64, value: &Any, skip_content: bool) -> Result<u64> {
    let view = tensor_of(value)?;
    let tensor = view.as_tensor_ref();
    let hash = combine(hash, AnyView::from(&tensor.dtype()).payload_bits());
    if skip_content {
        return Ok(hash);
    }
    ensure_readable(&[(tensor, "tensor")], "hash")?;
    let _guard = view.read_guard()?;
    // SAFETY: nobody writes the elements while they are borrowed.
    Ok(combine(hash, key::hash_bytes(unsafe { content(tensor) }?)))
}

fn tensor_of(value: &Any) -> Result<TensorView<'_>> {
    TensorView::from_value(value.as_view())
        .ok_or_else(|| plain_error!(TYPE_ERROR, "Expected a tensor"))
}

/// Raises InternalError for a tensor that is not contiguous in CPU memory. The names are for error
/// messages.
fn ensure_readable(tensors: &[(TensorRef<'_>, &str)], verb: &str) -> Result<()> {
    for (tensor, name) in tensors {
        let device = tensor.device().device_type;
        plain_ensure!(
            device == CPU,
            INTERNAL_ERROR,
            "Check failed: {}.device().device_type == kDLCPU ({} vs. {}) : can only {} CPU tensor",
            *name,
            device,
            CPU,
            verb
        );
    }
    for (tensor, name) in tensors {
        plain_ensure!(
            tensor.is_contiguous(),
            INTERNAL_ERROR,
            "Check failed: ({}.IsContiguous()) is false: Can only {} contiguous tensor",
            *name,
            verb
        );
    }
    Ok(())
}

/// Returns the bytes of the elements. Unlike upstream, which starts at the data pointer, takes the
/// byte offset into account.
///
/// # Safety
/// No other code may write the elements while the result is in use.
unsafe fn content(tensor: TensorRef<'_>) -> Result<&[u8]> {
    let size = tensor.size_bytes().ok_or_else(|| {
        plain_error!(VALUE_ERROR, "the tensor has more elements than memory can hold")
    })?;
    if size == 0 {
        return Ok(&[]);
    }
    let data = tensor.first_byte();
    plain_ensure!(!data.is_null(), VALUE_ERROR, "the tensor has no data");
    // SAFETY: the creator of the tensor guarantees that the memory of a contiguous CPU tensor
    // contains its elements from there on, and the caller that there are no concurrent writes.
    Ok(unsafe { slice::from_raw_parts(data, size) })
}
