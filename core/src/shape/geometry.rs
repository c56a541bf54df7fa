//! Arithmetic on shapes and strides, with overflow checks.
#![forbid(unsafe_code)]

use crate::abi::DLDataType;

/// Computes the number of elements of a tensor with this shape: 1 for no dimensions, 0 if any extent is 0.
///
/// Returns `None` if an extent is negative or the number overflows.
///
/// # Examples
/// ```
/// use ferrite_core::shape::product;
///
/// assert_eq!(product(&[2, 3, 4]), Some(24));
/// assert_eq!(product(&[]), Some(1));
/// assert_eq!(product(&[i64::MAX, 2]), None);
/// ```
#[inline]
pub fn product(shape: &[i64]) -> Option<i64> {
    // Unsigned saturating products take less code; the maximum represents overflow, and still gives 0 times 0.
    let (mut product, mut signs) = (1u64, 0);
    for &extent in shape {
        signs |= extent;
        product = product.saturating_mul(extent as u64);
    }
    if signs < 0 { None } else { i64::try_from(product).ok() }
}

/// Computes the size in bytes of a compact tensor with this shape and packed elements of `dtype`.
///
/// Returns `None` if an extent is negative, if the size exceeds the maximum allocation, or if the number of elements
/// exceeds the address space.
///
/// # Upstream
/// `GetDataSize` of `include/tvm/ffi/container/tensor.h`, which wraps around.
pub fn data_size_bytes(shape: &[i64], dtype: DLDataType) -> Option<usize> {
    // As in `product`, with pointer-sized numbers.
    let (mut elements, mut signs) = (1usize, 0);
    for &extent in shape {
        signs |= extent;
        elements = elements.saturating_mul(usize::try_from(extent as u64).unwrap_or(usize::MAX));
    }
    if elements == usize::MAX || signs < 0 {
        return None;
    }
    // Eight elements take whole bytes; the total number of bits may overflow.
    let (elements, element_bits) = (elements as u64, u64::from(dtype.bits) * u64::from(dtype.lanes));
    let rest_bits = elements % 8 * element_bits;
    let bytes = (elements / 8).checked_mul(element_bits)?.checked_add(rest_bits.div_ceil(8))?;
    isize::try_from(bytes).ok().map(isize::cast_unsigned)
}

/// Returns `true` if the elements are contiguous in row-major order.
///
/// Strides of dimensions with extent 1 are ignored, and so are all strides of an empty tensor. The slices must have
/// equal lengths.
///
/// # Examples
/// ```
/// use ferrite_core::shape::is_contiguous;
///
/// assert!(is_contiguous(&[2, 3], &[3, 1]));
/// assert!(!is_contiguous(&[2, 3], &[1, 2]));
/// ```
///
/// # Upstream
/// `IsContiguous` of `include/tvm/ffi/container/tensor.h`.
pub fn is_contiguous(shape: &[i64], strides: &[i64]) -> bool {
    // Tensors in memory have strides that fit an address.
    let (mut expected, mut is_compact) = (1usize, true);
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if extent == 0 {
            return true;
        }
        is_compact &= extent == 1 || stride == expected as i64;
        expected = expected.wrapping_mul(extent as usize);
    }
    is_compact
}

/// Iterates over the strides of a compact row-major tensor, last dimension first. Overflowing strides wrap around,
/// which can only happen for empty tensors.
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
    fn sizes_round_up_to_bytes_and_refuse_overflow() {
        let fp4 = DLDataType { code: 17, bits: 4, lanes: 1 };
        assert_eq!(data_size_bytes(&[3], fp4), Some(2));
        assert_eq!(data_size_bytes(&[], fp4), Some(1));
        let f64x4 = DLDataType { code: 2, bits: 64, lanes: 4 };
        assert_eq!(data_size_bytes(&[2, 2], f64x4), Some(128));
        assert_eq!(data_size_bytes(&[1 << 60], f64x4), None);
        assert_eq!(data_size_bytes(&[(1 << 58) - 1], f64x4), (((1u64 << 58) - 1) * 32).try_into().ok());
        assert_eq!(data_size_bytes(&[2, -1], f64x4), None);
        assert_eq!(data_size_bytes(&[i64::MAX, i64::MAX, 0], f64x4), Some(0));
        assert_eq!(data_size_bytes(&[0, -1], f64x4), None);
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
        assert!(row_major_strides_reversed(&[]).eq([0; 0]));
    }
}
