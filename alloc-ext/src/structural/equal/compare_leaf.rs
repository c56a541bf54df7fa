//! Structural equality of leaves: numbers, strings, bytes, shapes and tensors.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::hash_leaf::is_nan;
use super::tensors;
use crate::containers::key;
use crate::walk::same_number_or_text;

/// Compares two values if either is a leaf or their types differ; `None` for two containers or
/// objects of the same type.
///
/// # Errors
/// InternalError for tensors whose content must be compared but cannot be read.
#[inline(always)]
pub(super) fn compare_leaves(
    lhs: &Any,
    rhs: &Any,
    skip_tensor_content: bool,
) -> Result<Option<bool>> {
    if same_number_or_text(lhs, rhs) {
        return Ok(Some(true));
    }
    if lhs.type_index() == rhs.type_index() && lhs.type_index() >= type_index::DYN_OBJECT_BEGIN {
        return Ok(None);
    }
    compare_any_leaves(lhs, rhs, skip_tensor_content)
}

/// Implements [`compare_leaves`] without the fast path.
pub(super) fn compare_any_leaves(
    lhs: &Any,
    rhs: &Any,
    skip_tensor_content: bool,
) -> Result<Option<bool>> {
    let (left, right) = (lhs.as_view(), rhs.as_view());
    let (index, other) = (left.type_index(), right.type_index());
    if index != other && long_form(index) != long_form(other) {
        return Ok(Some(false));
    }
    Ok(Some(match index {
        type_index::SHAPE => tensors::same_extents(lhs, rhs),
        type_index::TENSOR => {
            tensors::same_extents(lhs, rhs)
                && tensors::equal_content(lhs, rhs, skip_tensor_content)?
        }
        type_index::FLOAT if is_nan(left.payload_bits()) => is_nan(right.payload_bits()),
        // Equal like map keys.
        ..=type_index::SMALL_BYTES | type_index::STR | type_index::BYTES | type_index::BIG_INT => {
            key::equal_without_hook(left, right) == Some(true)
        }
        _ => return Ok(None),
    }))
}

/// Maps the type indices of small strings and bytes to the type indices of their heap
/// representations.
fn long_form(index: i32) -> i32 {
    match index {
        type_index::SMALL_STR => type_index::STR,
        type_index::SMALL_BYTES => type_index::BYTES,
        index => index,
    }
}
