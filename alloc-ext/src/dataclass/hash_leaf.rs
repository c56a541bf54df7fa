//! Hashes of leaves, equal to upstream's.
#![forbid(unsafe_code)]

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::names::type_table::TypeEntry;
use ferrite_core::value::any::Any;
use ferrite_core::value::big_int::BigInt;
use ferrite_core::value::shape::Shape;

use crate::containers::key;

/// Bit pattern that represents every NaN in hashes.
const NAN_BITS: u64 = 0x7ff8 << 48;

/// Mixes a number into a hash.
///
/// # Upstream
/// `StableHashCombine` in `base_detail.h`.
#[cfg_attr(not(feature = "speed"), inline(never))]
pub(crate) fn combine(hash: u64, number: u64) -> u64 {
    hash ^ number.wrapping_add(0x9e37_79b9).wrapping_add(hash << 6).wrapping_add(hash >> 2)
}

/// Returns the hash of a type key; 0 for an unregistered type.
pub(crate) fn type_key_hash(type_index: i32) -> u64 {
    type_table::type_info(type_index).map_or(0, TypeEntry::type_key_hash)
}

/// Returns the hash of a leaf; `None` for objects that have children or may have a hook.
///
/// # Errors
/// MemoryError.
#[inline(always)]
pub(super) fn hash_leaf(value: &Any) -> Result<Option<u64>> {
    match value.type_index() {
        index @ type_index::INT => Ok(Some(combine(index as u64, value.view().payload_bits()))),
        type_index::DYN_OBJECT_BEGIN.. => Ok(None),
        _ => hash_any_leaf(value),
    }
}

/// General case of [`hash_leaf`], without the fast path.
#[inline(never)]
fn hash_any_leaf(value: &Any) -> Result<Option<u64>> {
    let view = value.view();
    let index = view.type_index();
    let typed = |number| combine(index as u64, number);
    let hash = match index {
        type_index::NONE => combine(0, 0),
        type_index::STR | type_index::SMALL_STR => combine(
            type_index::STR as u64,
            key::hash_bytes(view.bytes_of_string().unwrap_or_default()),
        ),
        type_index::BYTES | type_index::SMALL_BYTES => combine(
            type_index::BYTES as u64,
            key::hash_bytes(view.bytes_of_bytes().unwrap_or_default()),
        ),
        type_index::BOOL => typed(u64::from(view.payload_bits() != 0)),
        type_index::FLOAT => typed(float_bits(f64::from_bits(view.payload_bits()))),
        type_index::DATA_TYPE => hash_dtype(value.get()?),
        type_index::DEVICE => hash_device(value.get()?),
        type_index::SHAPE => {
            let shape = value.get::<Shape>()?;
            let seed = combine(type_key_hash(index), shape.as_slice().len() as u64);
            shape.as_slice().iter().fold(seed, |hash, extent| combine(hash, *extent as u64))
        }
        type_index::BIG_INT => key::hash_words(&value.get::<BigInt>()?),
        type_index::STATIC_OBJECT_BEGIN.. => return Ok(None),
        _ => typed(view.payload_bits()),
    };
    Ok(Some(hash))
}

/// Returns the bits of a float to hash: the same for both zeros, and for all NaNs.
fn float_bits(value: f64) -> u64 {
    if value.is_nan() {
        NAN_BITS
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    }
}

fn hash_dtype(dtype: DLDataType) -> u64 {
    let parts = [u64::from(dtype.code), u64::from(dtype.bits), u64::from(dtype.lanes)];
    parts.into_iter().fold(type_index::DATA_TYPE as u64, combine)
}

fn hash_device(device: DLDevice) -> u64 {
    let parts = [i64::from(device.device_type) as u64, i64::from(device.device_id) as u64];
    parts.into_iter().fold(type_index::DEVICE as u64, combine)
}
