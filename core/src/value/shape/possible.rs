//! Check that a tensor of a given shape and data type fits an allocation. In builds with `speed`,
//! no product is computed for most shapes.
#![forbid(unsafe_code)]

use super::data_size_bytes;
use crate::abi::DLDataType;

/// Returns `true` if a compact tensor with this shape and packed elements of `dtype` fits an
/// allocation.
#[inline]
pub fn has_possible_size(shape: &[i64], dtype: DLDataType) -> bool {
    is_small(shape) || has_bytes(shape, dtype)
}

/// Returns `true` if a compact tensor with this shape certainly fits an allocation, whatever its
/// element type. `false` is inconclusive, and what size-optimised builds always return: the check
/// takes 288 bytes of flash there, and saves a quarter of the instructions of a new tensor.
#[inline(always)]
pub fn is_small(shape: &[i64]) -> bool {
    if cfg!(not(feature = "speed")) {
        return false;
    }
    // Up to four extents need neither a loop nor a division.
    match shape {
        [_] => have_few_bits(shape, 1),
        [_, _] => have_few_bits(shape, 2),
        [_, _, _] => have_few_bits(shape, 3),
        [_, _, _, _] => have_few_bits(shape, 4),
        _ => have_few_bits(shape, shape.len().max(1)),
    }
}

/// Returns `true` if none of `len` extents is negative, and an element with the product of their
/// bits fits an allocation.
#[inline(always)]
fn have_few_bits(extents: &[i64], len: usize) -> bool {
    // The bits of a product are at most the sum of the bits of the extents. An element has fewer
    // than 2^24 bits.
    let bits_of_each = (usize::BITS as usize - 1 - 24) / len;
    extents.iter().all(|extent| *extent as u64 >> bits_of_each == 0)
}

/// Slow path of [`has_possible_size`], out of line: returns `true` if the size can be computed
/// without overflow.
#[cold]
fn has_bytes(shape: &[i64], dtype: DLDataType) -> bool {
    data_size_bytes(shape, dtype).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_possible_when_they_have_bytes() {
        let dtype = DLDataType { code: 2, bits: 255, lanes: u16::MAX };
        for shape in [
            &[][..],
            &[0],
            &[3, 4],
            &[-1],
            &[2, -3],
            &[1 << 38],
            &[1 << 39],
            &[1 << 20, 1 << 20],
            &[i64::MAX, 0],
        ] {
            assert_eq!(
                has_possible_size(shape, dtype),
                data_size_bytes(shape, dtype).is_some(),
                "{shape:?}"
            );
        }
    }
}
