//! Structural hash of leaves: numbers, strings, bytes, shapes and tensors. Equal to upstream's
//! hash.
#![forbid(unsafe_code)]

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use super::tensors;
use crate::containers::key;
use crate::dataclass::{combine, type_key_hash};

/// Canonical bits of a NaN, hashed for every NaN.
const NAN_BITS: u64 = 0x7ff8 << 48;

/// Returns the hash of a leaf; `None` for containers and other objects.
///
/// # Errors
/// InternalError for a tensor whose content must be hashed but cannot be read.
#[inline(always)]
pub(super) fn hash_leaf(value: &Any, skip_tensor_content: bool) -> Result<Option<u64>> {
    match hash_plain(value) {
        Some(hash) => Ok(Some(hash)),
        None => match value.type_index() {
            type_index::SHAPE | type_index::TENSOR => {
                hash_extents(value, skip_tensor_content).map(Some)
            }
            _ => Ok(None),
        },
    }
}

#[inline(never)]
fn hash_extents(value: &Any, skip_tensor_content: bool) -> Result<u64> {
    let extents = tensors::extents(value).unwrap_or_default();
    let index = value.type_index();
    let seed = combine(type_key_hash(index), extents.len() as u64);
    let hash = extents.iter().fold(seed, |hash, extent| combine(hash, *extent as u64));
    if index == type_index::SHAPE {
        return Ok(hash);
    }
    tensors::hash_content(hash, value, skip_tensor_content)
}

/// Returns the hash of a number or string; `None` for other values.
#[inline(always)]
pub(super) fn hash_plain(value: &Any) -> Option<u64> {
    let bits = value.view().payload_bits();
    match value.type_index() {
        // Constants instead of the type index produce better code.
        type_index::INT => Some(combine(type_index::INT as u64, bits)),
        type_index::FLOAT => {
            let bits = if is_nan(bits) { NAN_BITS } else { bits };
            Some(combine(type_index::FLOAT as u64, bits))
        }
        _ => hash_bits(value),
    }
}

/// Returns `true` if the bits are those of a NaN. Compares integers, since small cores have no
/// 64-bit floating-point instructions.
pub(super) fn is_nan(bits: u64) -> bool {
    bits << 1 > f64::INFINITY.to_bits() << 1
}

/// Returns the hash of a number or string without canonicalising NaN; `None` for other values.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
pub(super) fn hash_bits(value: &Any) -> Option<u64> {
    let bits = value.view().payload_bits();
    match value.type_index() {
        // Hashed like map keys.
        type_index::SMALL_STR => Some(key::hash_short_text(bits)),
        type_index::STR => Some(key::hash_long_text(value.as_view())),
        type_index::BYTES | type_index::BIG_INT => key::hash(value.as_view()).ok(),
        type_index::STATIC_OBJECT_BEGIN.. => None,
        // Includes small bytes, which upstream hashes differently from bytes on the heap.
        index => Some(combine(index as u64, bits)),
    }
}
