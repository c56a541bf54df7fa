//! Equality and order of leaves, which are the values without children.
#![forbid(unsafe_code)]

use core::cmp::Ordering;
use core::ffi::c_char;

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::value::any::Any;
use ferrite_core::value::big_int::BigInt;
use ferrite_core::value::shape::Shape;
use ferrite_core::{plain_bail, plain_error};

use crate::walk::same_number_or_text;

/// Compares two values if at least one of them is a leaf. Returns `None` for two objects with
/// children.
///
/// # Errors
/// TypeError for leaves without an order, unless `equality_only`; MemoryError.
#[inline(always)]
pub(super) fn compare_leaves(lhs: &Any, rhs: &Any, equality_only: bool) -> Result<Option<i32>> {
    // NaN equals itself, but has no order.
    if equality_only && same_number_or_text(lhs, rhs) {
        return Ok(Some(0));
    }
    compare_any_leaves(lhs, rhs, equality_only)
}

/// General case of [`compare_leaves`], without the fast path.
#[inline(never)]
fn compare_any_leaves(lhs: &Any, rhs: &Any, equality_only: bool) -> Result<Option<i32>> {
    let (left, right) = (lhs.type_index(), rhs.type_index());
    if lhs.is_none() || rhs.is_none() {
        return Ok(Some(rhs.is_none().cmp(&lhs.is_none()) as i32));
    }
    if left == right && left < type_index::SMALL_STR {
        return compare_plain(lhs, rhs, equality_only).map(Some);
    }
    if let (Some(lhs), Some(rhs)) = (lhs.view().bytes_of_string(), rhs.view().bytes_of_string()) {
        return Ok(Some(compare_texts(lhs, rhs) as i32));
    }
    if let (Some(lhs), Some(rhs)) = (lhs.view().bytes_of_bytes(), rhs.view().bytes_of_bytes()) {
        return Ok(Some(compare_texts(lhs, rhs) as i32));
    }
    if left != right {
        return compare_types(lhs, rhs, equality_only).map(Some);
    }
    if left < type_index::STATIC_OBJECT_BEGIN {
        return compare_plain(lhs, rhs, equality_only).map(Some);
    }
    if lhs.view().object_ptr() == rhs.view().object_ptr() {
        // By identity, even for a type whose hook denies that.
        return Ok(Some(0));
    }
    match left {
        type_index::BIG_INT => compare_integers(lhs, rhs).map(Some),
        type_index::SHAPE => {
            let (lhs, rhs) = (lhs.get::<Shape>()?, rhs.get::<Shape>()?);
            Ok(Some(lhs.as_slice().cmp(rhs.as_slice()) as i32))
        }
        _ => Ok(None),
    }
}

/// Compares strings byte by byte, signed or unsigned like C's `char` on the target, to agree with
/// upstream.
fn compare_texts(lhs: &[u8], rhs: &[u8]) -> Ordering {
    if lhs == rhs {
        return Ordering::Equal;
    }
    lhs.iter().map(|byte| *byte as c_char).cmp(rhs.iter().map(|byte| *byte as c_char))
}

/// Compares leaves of different types. An int and a big integer compare by value. Other pairs are
/// unequal, and TypeError if an order is needed.
fn compare_types(lhs: &Any, rhs: &Any, equality_only: bool) -> Result<i32> {
    match (lhs.type_index(), rhs.type_index()) {
        _ if equality_only => Ok(1),
        (type_index::INT, type_index::BIG_INT) | (type_index::BIG_INT, type_index::INT) => {
            compare_integers(lhs, rhs)
        }
        _ => Err(different_types(lhs, rhs)),
    }
}

#[inline]
fn compare_plain(lhs: &Any, rhs: &Any, equality_only: bool) -> Result<i32> {
    let (left, right) = (lhs.view().payload_bits(), rhs.view().payload_bits());
    let order = match lhs.type_index() {
        type_index::BOOL => Some((left != 0).cmp(&(right != 0))),
        type_index::INT => Some((left as i64).cmp(&(right as i64))),
        type_index::FLOAT => {
            return compare_floats(f64::from_bits(left), f64::from_bits(right), equality_only);
        }
        type_index::DATA_TYPE => Some(dtype_parts(lhs.get()?).cmp(&dtype_parts(rhs.get()?))),
        type_index::DEVICE => Some(device_parts(lhs.get()?).cmp(&device_parts(rhs.get()?))),
        _ if left == right && lhs.as_raw().small_str_len == rhs.as_raw().small_str_len => {
            Some(Ordering::Equal)
        }
        _ => None,
    };
    match order {
        Some(order) => Ok(order as i32),
        None if equality_only => Ok(1),
        None => plain_bail!(
            TYPE_ERROR,
            "Cannot order values of type {}",
            type_table::type_key_of(lhs.type_index())
        ),
    }
}

fn compare_floats(lhs: f64, rhs: f64, equality_only: bool) -> Result<i32> {
    match lhs.partial_cmp(&rhs) {
        Some(order) => Ok(order as i32),
        None if equality_only => Ok(i32::from(lhs.is_nan() != rhs.is_nan())),
        None => plain_bail!(TYPE_ERROR, "Cannot order NaN values"),
    }
}

fn dtype_parts(dtype: DLDataType) -> (u8, u8, u16) {
    (dtype.code, dtype.bits, dtype.lanes)
}

fn device_parts(device: DLDevice) -> (i32, i32) {
    (device.device_type, device.device_id)
}

/// Compares two integers, each of them an int or a big integer.
fn compare_integers(lhs: &Any, rhs: &Any) -> Result<i32> {
    let words = |value: &Any| -> Result<(Option<BigInt>, i64)> {
        if value.type_index() == type_index::BIG_INT {
            return Ok((Some(value.get()?), 0));
        }
        Ok((None, value.view().payload_bits() as i64))
    };
    let ((lhs_big, lhs_word), (rhs_big, rhs_word)) = (words(lhs)?, words(rhs)?);
    let lhs = lhs_big.as_ref().map_or(core::slice::from_ref(&lhs_word), BigInt::words);
    let rhs = rhs_big.as_ref().map_or(core::slice::from_ref(&rhs_word), BigInt::words);
    Ok(compare_words(lhs, rhs) as i32)
}

/// Compares two integers, given as two's complement words in little-endian order.
fn compare_words(lhs: &[i64], rhs: &[i64]) -> Ordering {
    let sign = |words: &[i64]| words.last().map_or(0, |word| word >> (i64::BITS - 1));
    let (lhs_sign, rhs_sign) = (sign(lhs), sign(rhs));
    // -1 for negative numbers, else 0.
    lhs_sign.cmp(&rhs_sign).then_with(|| {
        let word =
            |words: &[i64], sign: i64, place: usize| *words.get(place).unwrap_or(&sign) as u64;
        (0..lhs.len().max(rhs.len()))
            .rev()
            .map(|place| word(lhs, lhs_sign, place).cmp(&word(rhs, rhs_sign, place)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    })
}

/// Returns the TypeError for two values whose types have no common order.
fn different_types(lhs: &Any, rhs: &Any) -> Error {
    plain_error!(
        TYPE_ERROR,
        "Cannot compare values of different types: {} vs {}",
        type_table::type_key_of(lhs.type_index()),
        type_table::type_key_of(rhs.type_index())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_any_size_have_an_order() {
        let ascending: [&[i64]; 7] =
            [&[0, -2], &[0, -1], &[i64::MIN], &[-1], &[5], &[-1, 0], &[0, 1]];
        for (i, lhs) in ascending.iter().enumerate() {
            for (j, rhs) in ascending.iter().enumerate() {
                assert_eq!(compare_words(lhs, rhs), i.cmp(&j), "{lhs:?} {rhs:?}");
            }
        }
    }
}
