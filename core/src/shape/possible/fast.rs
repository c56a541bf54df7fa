//! Speed-optimised test for a possible size: most shapes need no product.
#![forbid(unsafe_code)]

use super::super::data_size_bytes;
use crate::abi::DLDataType;

/// Whether packed elements of `dtype` in a compact tensor of this shape fit an allocation.
#[inline]
pub fn has_possible_size(shape: &[i64], dtype: DLDataType) -> bool {
    is_small(shape) || has_bytes(shape, dtype)
}

/// Whether a shape surely has a possible size, whatever its elements. False says nothing.
#[inline(always)]
pub fn is_small(shape: &[i64]) -> bool {
    let mut all = 0;
    for extent in shape {
        all |= extent;
        // To leave here keeps the loop short: shapes have few extents, for which vectors do not pay.
        if all < 0 {
            return false;
        }
    }
    // Extents of few bits have a product of few bits, as most shapes do. An element has fewer than 2^24 bits.
    let extent_bits = i64::BITS - (all | 1).leading_zeros();
    let bits = shape.len() as u64 * u64::from(extent_bits) + 24;
    bits < u64::from(usize::BITS)
}

/// Out of line, where few shapes get to.
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
            assert_eq!(has_possible_size(shape, dtype), data_size_bytes(shape, dtype).is_some(), "{shape:?}");
        }
    }
}
