//! Hashes of values that have nothing inside, as upstream computes them.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::type_index;

use super::tensors;
use crate::containers::key;
use crate::dataclass::{combine, type_key_hash};

/// The bits that stand for every NaN.
const NAN_BITS: u64 = 0x7ff8 << 48;

/// The hash of a value that has nothing inside; None for containers and other objects.
///
/// # Errors
/// Those of tensors.
#[cfg_attr(feature = "std", inline(always))]
pub(super) fn hash_leaf(value: &Any, skip_tensor_content: bool) -> Result<Option<u64>> {
    match hash_plain(value) {
        Some(hash) => Ok(Some(hash)),
        None if value.type_index() >= type_index::DYN_OBJECT_BEGIN => Ok(None),
        None => hash_object(value, skip_tensor_content),
    }
}

#[inline(never)]
fn hash_object(value: &Any, skip_tensor_content: bool) -> Result<Option<u64>> {
    let Some(extents) = tensors::extents(value) else { return Ok(None) };
    let index = value.type_index();
    let seed = combine(type_key_hash(index), extents.len() as u64);
    let hash = extents.iter().fold(seed, |hash, extent| combine(hash, *extent as u64));
    if index == type_index::SHAPE {
        return Ok(Some(hash));
    }
    tensors::hash_content(hash, value, skip_tensor_content).map(Some)
}

/// The hash of a number or text; None for other values.
#[cfg_attr(feature = "std", inline(always))]
pub(super) fn hash_plain(value: &Any) -> Option<u64> {
    let index = value.type_index();
    if index == type_index::FLOAT && is_nan(value.view().payload_bits()) {
        return Some(combine(index as u64, NAN_BITS));
    }
    hash_bits(value)
}

/// Whether a float is no number: only NaN has several forms. By its bits, since small cores do not compare 64-bit floats.
pub(super) fn is_nan(bits: u64) -> bool {
    bits << 1 > f64::INFINITY.to_bits() << 1
}

/// The hash of a number or text by its bits, which tell one NaN from another; None for other values.
#[cfg_attr(feature = "std", inline(always))]
#[cfg_attr(not(feature = "std"), inline(never))]
pub(super) fn hash_bits(value: &Any) -> Option<u64> {
    let index = value.type_index();
    if index >= type_index::SMALL_STR {
        return hash_text(value);
    }
    Some(combine(index as u64, value.view().payload_bits()))
}

fn hash_text(value: &Any) -> Option<u64> {
    match value.type_index() {
        // These hash as keys do.
        type_index::SMALL_STR => Some(key::hash_short_text(value.view().payload_bits())),
        type_index::STR | type_index::BYTES | type_index::BIG_INT => key::hash(value.as_view()).ok(),
        // Among them are short bytes: upstream hashes them otherwise than long ones.
        index if index < type_index::STATIC_OBJECT_BEGIN => {
            Some(combine(index as u64, value.view().payload_bits()))
        }
        _ => None,
    }
}
