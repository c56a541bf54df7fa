//! Arithmetic on shapes and strides, with overflow checks.
#![forbid(unsafe_code)]

use crate::abi::DLDataType;

/// Computes the number of elements of a tensor with this shape: 1 for no dimensions, 0 if any
/// extent is 0.
///
/// Returns `None` if an extent is negative or the number overflows.
///
/// # Examples
/// ```
/// use ferrite_core::value::shape::product;
///
/// assert_eq!(product(&[2, 3, 4]), Some(24));
/// assert_eq!(product(&[]), Some(1));
/// assert_eq!(product(&[i64::MAX, 2]), None);
/// ```
#[inline]
pub fn product(shape: &[i64]) -> Option<i64> {
    // Unsigned saturating products take less code; the maximum represents overflow, and still gives
    // 0 times 0.
    let (mut product, mut signs) = (1u64, 0);
    for &extent in shape {
        signs |= extent;
        product = product.saturating_mul(extent as u64);
    }
    if signs < 0 { None } else { i64::try_from(product).ok() }
}

/// Computes the size in bytes of a compact tensor with this shape and packed elements of `dtype`.
///
/// Returns `None` if an extent is negative, if the size exceeds the maximum allocation, or if the
/// number of elements exceeds the address space.
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
    let (elements, element_bits) =
        (elements as u64, u64::from(dtype.bits) * u64::from(dtype.lanes));
    let rest_bits = elements % 8 * element_bits;
    let bytes = (elements / 8).checked_mul(element_bits)?.checked_add(rest_bits.div_ceil(8))?;
    isize::try_from(bytes).ok().map(isize::cast_unsigned)
}

/// Returns `true` if the elements are contiguous in row-major order.
///
/// Strides of dimensions with extent 1 are ignored, and so are all strides of an empty tensor. The
/// slices must have equal lengths.
///
/// # Examples
/// ```
/// use ferrite_core::value::shape::is_contiguous;
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

/// Iterates over the strides of a compact row-major tensor, last dimension first. Overflowing
/// strides wrap around, which can only happen for empty tensors.
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
    extern crate std;
    use super::*;
    use std::vec::Vec;

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
        assert_eq!(
            data_size_bytes(&[(1 << 58) - 1], f64x4),
            (((1u64 << 58) - 1) * 32).try_into().ok()
        );
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

    /// Calls `visit` with every shape of up to three extents.
    fn for_each_shape(mut visit: impl FnMut(&[i64])) {
        let big =
            [1 << 16, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 60, 1 << 61, i64::MAX - 1, i64::MAX];
        let extents: Vec<i64> = [i64::MIN, -1].into_iter().chain(0..9).chain(big).collect();
        visit(&[]);
        for first in extents.iter().copied() {
            visit(&[first]);
            for second in extents.iter().copied() {
                visit(&[first, second]);
                for third in extents.iter().copied().filter(|_| !cfg!(miri)) {
                    visit(&[first, second, third]);
                }
            }
        }
    }

    /// Computes the number of elements in 128 bits. Returns `None` if an extent is negative or the
    /// number is longer.
    fn wide_product(shape: &[i64]) -> Option<u128> {
        let extents = shape.iter().map(|extent| u128::try_from(*extent).ok());
        let extents = extents.collect::<Option<Vec<u128>>>()?;
        if extents.contains(&0) {
            return Some(0);
        }
        extents.into_iter().try_fold(1u128, u128::checked_mul)
    }

    #[test]
    fn products_equal_those_in_128_bits() {
        for_each_shape(|shape| {
            let expected = wide_product(shape).and_then(|wide| i64::try_from(wide).ok());
            assert_eq!(product(shape), expected, "{shape:?}");
        });
    }

    #[test]
    fn sizes_equal_those_in_128_bits() {
        let bits = [0, 1, 2, 3, 4, 6, 7, 8, 16, 32, 64, 128, 255];
        let lanes = [0, 1, 2, 3, 4, 7, 16, 256, u16::MAX];
        let dtypes = bits.into_iter().flat_map(|bits| lanes.map(|lanes| (bits, lanes)));
        for_each_shape(|shape| {
            let elements = wide_product(shape).filter(|elements| *elements < usize::MAX as u128);
            // Miri takes a second for a thousand sizes.
            let kept = |(_, lanes): &(u8, u16)| !cfg!(miri) || *lanes == 3;
            for (bits, lanes) in dtypes.clone().filter(kept) {
                let dtype = DLDataType { code: 1, bits, lanes };
                let element_bits = u128::from(bits) * u128::from(lanes);
                let bytes = elements.map(|elements| (elements * element_bits).div_ceil(8));
                let expected =
                    bytes.and_then(|bytes| isize::try_from(bytes).ok()).map(isize::cast_unsigned);
                assert_eq!(
                    data_size_bytes(shape, dtype),
                    expected,
                    "{shape:?}, {bits} bits, {lanes} lanes"
                );
                assert_eq!(
                    super::super::has_possible_size(shape, dtype),
                    expected.is_some(),
                    "{shape:?}"
                );
                assert!(
                    !super::super::is_small(shape) || expected.is_some(),
                    "{shape:?}, {bits}, {lanes}"
                );
            }
        });
    }

    #[test]
    fn contiguity_is_that_of_the_definition() {
        let extents = 0..if cfg!(miri) { 3 } else { 4 };
        let strides = [-1, 0, 1, 2, 3, 4, 6, 9, i64::MAX];
        for shape in
            extents.clone().flat_map(|first| extents.clone().map(move |second| [first, second]))
        {
            for third in extents.clone() {
                for outer in strides {
                    for (middle, inner) in
                        strides.into_iter().flat_map(|one| strides.map(|other| (one, other)))
                    {
                        let (shape, strides) =
                            ([shape[0], shape[1], third], [outer, middle, inner]);
                        let is_right = |axis: usize| {
                            shape[axis] == 1
                                || strides[axis] == shape[axis + 1..].iter().product::<i64>()
                        };
                        let expected = shape.contains(&0) || (0..3).all(is_right);
                        assert_eq!(
                            is_contiguous(&shape, &strides),
                            expected,
                            "{shape:?}, {strides:?}"
                        );
                    }
                }
            }
        }
    }
}
