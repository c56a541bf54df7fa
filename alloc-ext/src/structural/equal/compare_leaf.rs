//! Equality of values that have nothing inside.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::big_int::BigInt;
use ferrite_core::error::Result;
use ferrite_core::shape::Shape;
use ferrite_core::type_index;

use super::tensors;
use crate::walk::same_number_or_text;

/// Whether two values are equal, when what they hold decides at once; None for two containers or objects of one type.
///
/// # Errors
///
/// Those of tensors.
#[cfg_attr(feature = "std", inline(always))]
pub(super) fn compare_leaves(lhs: &Any, rhs: &Any, skip_tensor_content: bool) -> Result<Option<bool>> {
    if same_number_or_text(lhs, rhs) {
        return Ok(Some(true));
    }
    compare_others(lhs, rhs, skip_tensor_content)
}

/// The answer for what is not the same number or text in the same form.
fn compare_others(lhs: &Any, rhs: &Any, skip_tensor_content: bool) -> Result<Option<bool>> {
    let index = lhs.type_index();
    if index != rhs.type_index() {
        return Ok(Some(same_text(lhs, rhs)));
    }
    if index < type_index::STATIC_OBJECT_BEGIN {
        // Only NaN has several forms.
        let is_nan = |value: &Any| f64::from_bits(value.view().payload_bits()).is_nan();
        return Ok(Some(index == type_index::FLOAT && is_nan(lhs) && is_nan(rhs)));
    }
    Ok(Some(match index {
        type_index::STR => false,
        type_index::BYTES => lhs.view().bytes_of_bytes() == rhs.view().bytes_of_bytes(),
        type_index::SHAPE => extents(lhs) == extents(rhs),
        type_index::TENSOR => tensors::equal(lhs, rhs, skip_tensor_content)?,
        type_index::BIG_INT => words(lhs) == words(rhs),
        _ => return Ok(None),
    }))
}

fn extents(shape: &Any) -> Option<&[i64]> {
    shape.as_object()?.as_class().map(Shape::as_slice)
}

fn words(number: &Any) -> Option<&[i64]> {
    number.as_object()?.as_class().map(BigInt::words)
}

/// Whether two values of different types are a short and a long form of one text.
#[cold]
fn same_text(lhs: &Any, rhs: &Any) -> bool {
    let (left, right) = (lhs.view(), rhs.view());
    match (left.type_index(), right.type_index()) {
        (type_index::STR, type_index::SMALL_STR) | (type_index::SMALL_STR, type_index::STR) => {
            left.bytes_of_string() == right.bytes_of_string()
        }
        (type_index::BYTES, type_index::SMALL_BYTES) | (type_index::SMALL_BYTES, type_index::BYTES) => {
            left.bytes_of_bytes() == right.bytes_of_bytes()
        }
        _ => false,
    }
}
