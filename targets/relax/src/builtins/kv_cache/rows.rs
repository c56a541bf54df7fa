//! Operations on rows of a cache: slices along the first dimension of its tensor.

use ferrite_core::abi::DLTensor;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorView;
use ferrite_core::value::shape::data_size_bytes;
use ferrite_core::{Tensor, plain_bail, plain_ensure};

use super::record::State;
use crate::memory;

/// Returns the number of rows of a tensor; 0 for a scalar.
pub(super) fn rows_of(tensor: &Tensor) -> i64 {
    tensor.shape().first().copied().unwrap_or(0)
}

/// Checks that the rows of a value have the dtype and shape of the cache's rows. Returns their
/// number.
///
/// # Errors
/// InternalError if they differ.
pub(super) fn check_value(data: &Tensor, value: &Tensor) -> Result<i64> {
    plain_ensure!(
        data.dtype() == value.dtype(),
        INTERNAL_ERROR,
        "Check failed: (data.DataType() == value.DataType()) is false: dtype mismatch"
    );
    plain_ensure!(
        value.is_contiguous(),
        INTERNAL_ERROR,
        "Check failed: (value.IsContiguous()) is false: "
    );
    check_extents("value->shape[i]", value.shape().get(1..).unwrap_or_default(), data)?;
    Ok(rows_of(value))
}

/// Checks that row extents match those of the cache.
///
/// # Errors
/// InternalError if they differ.
pub(super) fn check_extents(what: &'static str, extents: &[i64], data: &Tensor) -> Result<()> {
    let expected = data.shape().get(1..).unwrap_or_default();
    for (index, (extent, expected)) in extents.iter().zip(expected).enumerate() {
        plain_ensure!(
            extent == expected,
            INTERNAL_ERROR,
            "Check failed: {} == data->shape[i] ({} vs. {}) : Dimension {} mismatch",
            what,
            extent,
            expected,
            index + 1
        );
    }
    plain_ensure!(
        extents.len() == expected.len(),
        INTERNAL_ERROR,
        "A row of the cache has {} dimensions, not {}",
        expected.len(),
        extents.len()
    );
    Ok(())
}

/// Returns the shape of a tensor with its number of rows replaced.
///
/// # Errors
/// MemoryError.
pub(super) fn with_rows(tensor: &Tensor, rows: i64) -> Result<Buffer<i64>> {
    let mut shape = Buffer::new();
    shape.try_extend_from_slice(tensor.shape())?;
    if let Some(first) = shape.as_mut_slice().first_mut() {
        *first = rows;
    }
    Ok(shape)
}

/// Copies `count` rows between two tensors, each from a given first row. Both tensors must be
/// compact, have rows of the same size, and contain the rows.
///
/// # Errors
/// RuntimeError while the elements are borrowed; MemoryError; errors of the device.
pub(super) fn copy_rows(
    (from, first): (&Tensor, i64),
    (to, target): (&Tensor, i64),
    count: i64,
) -> Result<()> {
    let shape = with_rows(from, count)?;
    let row_bytes =
        data_size_bytes(shape.get(1..).unwrap_or_default(), from.dtype()).unwrap_or(0) as u64;
    let part = |tensor: &Tensor, row: i64| DLTensor {
        shape: shape.as_slice().as_ptr().cast_mut(),
        strides: core::ptr::null_mut(),
        byte_offset: tensor.dl_tensor().byte_offset + row.cast_unsigned() * row_bytes,
        ..*tensor.dl_tensor()
    };
    let _guards = TensorView::from(from).copy_guards(to.into())?;
    // SAFETY: both parts lie in their tensors, which are alive, and whose elements are borrowed.
    unsafe { memory::copy(&part(from, first), &part(to, target)) }
}

/// Returns the content with capacity for `rows` rows. Doubles the capacity until it suffices.
///
/// # Errors
/// ValueError if the number of rows overflows; MemoryError.
pub(super) fn reserve(state: State, rows: i64) -> Result<State> {
    let old = rows_of(&state.data);
    let mut slots = old.max(1);
    while slots < rows {
        let Some(doubled) = slots.checked_mul(2) else {
            plain_bail!(VALUE_ERROR, "The cache cannot have {} rows", &rows);
        };
        slots = doubled;
    }
    if rows <= old {
        return Ok(state);
    }
    let data =
        memory::empty(&with_rows(&state.data, slots)?, state.data.dtype(), state.data.device())?;
    copy_rows((&state.data, 0), (&data, 0), old)?;
    Ok(State { data, ..state })
}

/// Appends the rows of a value to the content.
///
/// # Errors
/// InternalError for rows of another shape or dtype; as for [`reserve`].
pub(super) fn append_rows(state: State, value: &Tensor) -> Result<State> {
    let count = check_value(&state.data, value)?;
    let first = state.filled;
    let mut state = reserve(state, first.saturating_add(count))?;
    copy_rows((value, 0), (&state.data, first), count)?;
    state.filled += count;
    Ok(state)
}
