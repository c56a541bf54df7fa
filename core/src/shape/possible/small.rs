//! Size-optimised test for a possible size: the size is computed.
#![forbid(unsafe_code)]

use super::super::data_size_bytes;
use crate::abi::DLDataType;

/// Whether packed elements of `dtype` in a compact tensor of this shape fit an allocation.
#[inline]
pub fn has_possible_size(shape: &[i64], dtype: DLDataType) -> bool {
    data_size_bytes(shape, dtype).is_some()
}

/// Whether a shape surely has a possible size: never known here, in builds where code size counts.
#[inline(always)]
pub fn is_small(_: &[i64]) -> bool {
    false
}
