//! Comparison of Arrays of leaves without pushing a frame. A frame would be stored and reloaded at
//! once, and the load would wait for the store.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use crate::structural::equal::compare_leaf::compare_leaves;
use crate::walk::{elements_of_array, prefetch_next};

/// Compares two Arrays up to the first pair of elements that are not equal leaves. Returns `None`
/// if the Arrays are equal, which is the common case, otherwise the length of the prefix known to
/// be equal: 0 if the values are not Arrays, or of different sizes.
///
/// # Errors
/// InternalError for tensors whose content must be compared but cannot be read.
#[inline(always)]
pub(in crate::structural::equal::compare) fn compare_arrays(
    lhs: &Any,
    rhs: &Any,
    skip_tensor_content: bool,
) -> Result<Option<usize>> {
    let (Some(lhs), Some(rhs)) = (elements_of_array(lhs), elements_of_array(rhs)) else {
        return Ok(Some(0));
    };
    // Arrays of different sizes differ. Comparing their elements could only raise an error.
    if lhs.len() != rhs.len() {
        return Ok(Some(0));
    }
    for (equal, (lhs, rhs)) in lhs.iter().zip(rhs).enumerate() {
        prefetch_next(lhs);
        prefetch_next(rhs);
        if compare_leaves(lhs, rhs, skip_tensor_content)? != Some(true) {
            return Ok(Some(equal));
        }
    }
    Ok(None)
}
