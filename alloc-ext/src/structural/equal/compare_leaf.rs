//! Equality of values that have nothing inside.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::big_int::BigInt;
use ferrite_core::error::Result;
use ferrite_core::shape::Shape;
use ferrite_core::type_index;

use super::tensors;

/// Whether two values are equal, when what they hold decides at once; None for two containers or objects of one type.
///
/// # Errors
///
/// Those of tensors.
#[inline]
pub(super) fn compare_leaves(lhs: &Any, rhs: &Any, skip_tensor_content: bool) -> Result<Option<bool>> {
    if lhs.type_index() == rhs.type_index() && lhs.type_index() < type_index::STATIC_OBJECT_BEGIN {
        return Ok(Some(same_plain(lhs, rhs)));
    }
    compare_objects(lhs, rhs, skip_tensor_content)
}

/// Plain values are equal by their bits; only NaN has several of them.
#[inline]
fn same_plain(lhs: &Any, rhs: &Any) -> bool {
    let (left, right) = (lhs.view().payload_bits(), rhs.view().payload_bits());
    if lhs.type_index() == type_index::FLOAT && f64::from_bits(left).is_nan() {
        return f64::from_bits(right).is_nan();
    }
    left == right && lhs.as_raw().small_str_len == rhs.as_raw().small_str_len
}

/// Whether two values are plain and have the same bits, which makes them equal.
#[inline]
pub(super) fn same_bits(lhs: &Any, rhs: &Any) -> bool {
    let (left, right) = (lhs.as_raw(), rhs.as_raw());
    left.type_index == right.type_index
        && left.small_str_len == right.small_str_len
        && lhs.view().payload_bits() == rhs.view().payload_bits()
        && left.type_index < type_index::STATIC_OBJECT_BEGIN
}

fn compare_objects(lhs: &Any, rhs: &Any, skip_tensor_content: bool) -> Result<Option<bool>> {
    let (left, right) = (lhs.view(), rhs.view());
    Ok(Some(match (left.type_index(), right.type_index()) {
        (type_index::STR | type_index::SMALL_STR, type_index::STR | type_index::SMALL_STR) => {
            left.bytes_of_string() == right.bytes_of_string()
        }
        (type_index::BYTES | type_index::SMALL_BYTES, type_index::BYTES | type_index::SMALL_BYTES) => {
            left.bytes_of_bytes() == right.bytes_of_bytes()
        }
        (left, right) if left != right => false,
        (type_index::BIG_INT, _) => lhs.get::<BigInt>()?.words() == rhs.get::<BigInt>()?.words(),
        (type_index::SHAPE, _) => lhs.get::<Shape>()?.as_slice() == rhs.get::<Shape>()?.as_slice(),
        (type_index::TENSOR, _) => tensors::equal(lhs, rhs, skip_tensor_content)?,
        _ => return Ok(None),
    }))
}
