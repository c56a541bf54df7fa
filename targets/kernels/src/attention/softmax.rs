//! Softmax of a row of scores, in place.

use crate::element::Element;
use crate::epilogue::exp;
use crate::simd::Simd;

/// Additive mask of a row: the first element, or null, and the distance of elements, 0 or 1.
#[derive(Clone, Copy)]
pub struct RowMask<T> {
    /// First element, or null.
    pub data: *const T,
    /// Distance of elements.
    pub step: usize,
}

/// Replaces `count` scores by `exp(scale score + mask - maximum)`. Returns the sum of these.
///
/// # Safety
/// `scores` must have `count` elements, and so must the mask.
#[inline(always)]
pub unsafe fn exponentials<S: Simd, T: Element>(
    simd: S,
    scores: *mut f32,
    count: usize,
    scale: f32,
    mask: RowMask<T>,
) -> f32 {
    // SAFETY: the caller guarantees the elements.
    unsafe {
        let maximum = scaled(simd, scores, count, scale, mask);
        let (largest, mut sum) = (simd.splat(maximum), simd.splat(0.0));
        let mut at = 0;
        while at + S::LANES <= count {
            let value = exp(simd, simd.sub(simd.load(scores.add(at)), largest));
            simd.store(scores.add(at), value);
            sum = simd.add(sum, value);
            at += S::LANES;
        }
        let mut total = fold(simd, sum, |a, b| a + b);
        if at < count {
            let rest = count - at;
            let value = exp(simd, simd.sub(f32::load_head(simd, scores.add(at), rest), largest));
            f32::store_head(simd, scores.add(at), value, rest);
            for index in at..count {
                total += *scores.add(index);
            }
        }
        total
    }
}

/// Scales and masks scores. Returns the largest.
#[inline(always)]
unsafe fn scaled<S: Simd, T: Element>(
    simd: S,
    scores: *mut f32,
    count: usize,
    scale: f32,
    mask: RowMask<T>,
) -> f32 {
    let mut largest = simd.splat(f32::NEG_INFINITY);
    let mut at = 0;
    while at < count {
        let lanes = (count - at).min(S::LANES);
        // SAFETY: the caller guarantees the elements.
        unsafe {
            let mut value = f32::load_head(simd, scores.add(at), lanes);
            value = simd.mul(value, simd.splat(scale));
            if !mask.data.is_null() {
                let mask = if mask.step == 0 {
                    simd.splat((*mask.data).to_f32())
                } else {
                    T::load_head(simd, mask.data.add(at), lanes)
                };
                value = simd.add(value, mask);
            }
            f32::store_head(simd, scores.add(at), value, lanes);
            if lanes == S::LANES {
                largest = simd.max(largest, value);
            }
        }
        at += S::LANES;
    }
    let mut maximum = fold(simd, largest, f32::max);
    for index in count / S::LANES * S::LANES..count {
        // SAFETY: the caller guarantees the elements.
        maximum = maximum.max(unsafe { *scores.add(index) });
    }
    maximum
}

/// Combines the lanes of a vector.
#[inline(always)]
fn fold<S: Simd>(simd: S, value: S::V, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; 16];
    // SAFETY: the array has at least the lanes of a vector.
    unsafe { simd.store(lanes.as_mut_ptr(), value) };
    lanes[1..S::LANES].iter().fold(lanes[0], |a, b| combine(a, *b))
}
