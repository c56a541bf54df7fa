//! Arithmetic over shapes and strides, overflow included.
#![forbid(unsafe_code)]

use crate::abi::DLDataType;

/// Number of elements of a tensor of this shape; 1 for no dimensions, 0 when any extent is 0.
///
/// None when an extent is negative or the number does not fit.
#[inline]
pub fn product(shape: &[i64]) -> Option<i64> {
    i64::try_from(elements(shape)?).ok()
}

/// As [`product`], one bit longer: unsigned numbers multiply in less code.
fn elements(shape: &[i64]) -> Option<u64> {
    let mut product = Some(1u64);
    let mut empty = false;
    for &extent in shape {
        let extent = u64::try_from(extent).ok()?;
        empty |= extent == 0;
        product = product.and_then(|product| product.checked_mul(extent));
    }
    if empty { Some(0) } else { product }
}

/// Bytes that packed elements of `dtype` take in a compact tensor of this shape.
///
/// None when an extent is negative or the size does not fit an allocation.
///
/// # Upstream
/// `GetDataSize` of `include/tvm/ffi/container/tensor.h`, which wraps around.
pub fn data_size_bytes(shape: &[i64], dtype: DLDataType) -> Option<usize> {
    let element_bits = u64::from(dtype.bits) * u64::from(dtype.lanes);
    let bytes = elements(shape)?.checked_mul(element_bits)?.div_ceil(8);
    usize::try_from(bytes).ok().filter(|&bytes| isize::try_from(bytes).is_ok())
}

/// Whether packed elements of `dtype` in a compact tensor of this shape fit an allocation.
#[inline]
pub fn has_possible_size(shape: &[i64], dtype: DLDataType) -> bool {
    // Extents of few bits have a product of few bits, as most shapes do; a negative one has all 64. An element has fewer than
    // 2^24 bits.
    let extent_bits = i64::BITS - shape.iter().fold(0, |all, extent| all | extent).leading_zeros();
    let bits = shape.len() as u64 * u64::from(extent_bits) + 24;
    bits < u64::from(usize::BITS) || data_size_bytes(shape, dtype).is_some()
}

/// Whether elements lie compactly in row-major order.
///
/// Strides of dimensions of extent 1 do not matter, nor do any strides of an empty tensor. The slices must be
/// equally long.
///
/// # Upstream
/// `IsContiguous` of `include/tvm/ffi/container/tensor.h`.
pub fn is_contiguous(shape: &[i64], strides: &[i64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1i64;
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if extent == 1 {
            continue;
        }
        if stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(extent);
    }
    true
}

/// The strides of a compact row-major tensor, last dimension first; they wrap around, which only empty
/// tensors can show.
///
/// # Upstream
/// `FillStridesFromShape` of `include/tvm/ffi/container/shape.h`.
pub fn row_major_strides_reversed(shape: &[i64]) -> impl Iterator<Item = i64> {
    let mut next = 1i64;
    shape.iter().rev().map(move |&extent| {
        let stride = next;
        next = next.wrapping_mul(extent);
        stride
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_know_their_limits() {
        assert_eq!(product(&[]), Some(1));
        assert_eq!(product(&[2, 3]), Some(6));
        assert_eq!(product(&[i64::MAX, i64::MAX, 0]), Some(0));
        assert_eq!(product(&[i64::MAX, 2]), None);
        assert_eq!(product(&[2, -1]), None);
        assert_eq!(product(&[0, -1]), None);
    }

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

    #[test]
    fn sizes_round_up_to_bytes_and_refuse_overflow() {
        let fp4 = DLDataType { code: 17, bits: 4, lanes: 1 };
        assert_eq!(data_size_bytes(&[3], fp4), Some(2));
        assert_eq!(data_size_bytes(&[], fp4), Some(1));
        let f64x4 = DLDataType { code: 2, bits: 64, lanes: 4 };
        assert_eq!(data_size_bytes(&[2, 2], f64x4), Some(128));
        assert_eq!(data_size_bytes(&[1 << 60], f64x4), None);
        assert_eq!(data_size_bytes(&[i64::MAX], DLDataType { code: 1, bits: 16, lanes: 1 }), None);
    }

    #[test]
    fn contiguity_ignores_what_cannot_matter() {
        assert!(is_contiguous(&[], &[]));
        assert!(is_contiguous(&[2, 3], &[3, 1]));
        assert!(!is_contiguous(&[2, 3], &[1, 2]));
        assert!(is_contiguous(&[1, 3], &[77, 1]));
        assert!(is_contiguous(&[0, 3], &[-5, 9]));
        assert!(!is_contiguous(&[3], &[-1]));
    }

    #[test]
    fn strides_count_elements() {
        assert!(row_major_strides_reversed(&[2, 3, 4]).eq([1, 4, 12]));
        assert!(row_major_strides_reversed(&[]).eq([]));
    }
}
