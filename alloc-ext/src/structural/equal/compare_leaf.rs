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
    let index = lhs.type_index();
    if index != rhs.type_index() {
        return Ok(Some(same_text(lhs, rhs)));
    }
    if index < type_index::STATIC_OBJECT_BEGIN {
        return Ok(Some(same_plain(lhs, rhs)));
    }
    Ok(Some(match index {
        type_index::STR => lhs.view().bytes_of_string() == rhs.view().bytes_of_string(),
        type_index::BYTES => lhs.view().bytes_of_bytes() == rhs.view().bytes_of_bytes(),
        type_index::SHAPE => lhs.get::<Shape>()?.as_slice() == rhs.get::<Shape>()?.as_slice(),
        type_index::TENSOR => tensors::equal(lhs, rhs, skip_tensor_content)?,
        type_index::BIG_INT => lhs.get::<BigInt>()?.words() == rhs.get::<BigInt>()?.words(),
        _ => return Ok(None),
    }))
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
