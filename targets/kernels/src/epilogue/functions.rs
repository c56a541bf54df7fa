//! Elementary functions of vectors: `exp` and `erf` are within 1.5 units in the last place of f32,
//! `tanh` within 2, the quotient within 3.
//!
//! The coefficients are minimax fits of this project (Lawson's iteration on Chebyshev nodes), whose
//! errors are below 4e-9.

use crate::simd::{MAGIC, Simd};

/// Below this number the exponential function is smaller than any normal number.
const SMALLEST: f32 = -87.336_54;
/// Above this number the power of two has no exponent; results end at 2.4e38.
const LARGEST: f32 = 88.376_26;

/// Returns `e^x`; 0 below -87.34, where results would be subnormal, and at most 2.4e38.
#[inline(always)]
pub fn exp<S: Simd>(s: S, x: S::V) -> S::V {
    // The second operand of the bounds is the one that passes NaN on.
    let bounded = s.min(s.splat(LARGEST), s.max(s.splat(SMALLEST), x));
    let shifted = s.fma(bounded, s.splat(core::f32::consts::LOG2_E), s.splat(MAGIC));
    let n = s.sub(shifted, s.splat(MAGIC));
    // The logarithm of 2 in two parts: the first one has few digits, so that products are exact.
    let rest = s.fma(n, s.splat(-0.693_145_75), bounded);
    let rest = s.fma(n, s.splat(-1.428_606_8e-6), rest);
    let tail =
        polynomial(s, rest, &[0.001_395_051_3, 0.008_368_903, 0.041_666_206, 0.166_665_18, 0.5]);
    let fraction = s.fma(s.mul(rest, rest), tail, rest);
    let power = s.exp2_of_magic(shifted);
    let value = s.fma(power, fraction, power);
    s.select_less(x, s.splat(SMALLEST), s.splat(0.0), value)
}

/// Returns `1 / (1 + e^x)`.
#[inline(always)]
pub fn reciprocal_of_one_plus_exp<S: Simd>(s: S, x: S::V) -> S::V {
    s.div(s.splat(1.0), s.add(exp(s, x), s.splat(1.0)))
}

/// Returns the hyperbolic tangent.
#[inline(always)]
pub fn tanh<S: Simd>(s: S, x: S::V) -> S::V {
    let square = s.mul(x, x);
    let tail = polynomial(
        s,
        square,
        &[-0.005_717_037, 0.020_650_579, -0.053_743_497, 0.133_314_91, -0.333_332_84],
    );
    let near = s.fma(s.mul(x, square), tail, x);
    let magnitude = s.abs(x);
    let quotient = reciprocal_of_one_plus_exp(s, s.add(magnitude, magnitude));
    let far = s.copysign(s.fma(quotient, s.splat(-2.0), s.splat(1.0)), x);
    s.select_less(magnitude, s.splat(0.625), near, far)
}

/// Returns the error function.
#[inline(always)]
pub fn erf<S: Simd>(s: S, x: S::V) -> S::V {
    let square = s.mul(x, x);
    let tail = polynomial(
        s,
        square,
        &[
            7.889_119e-5,
            -0.000_802_084_1,
            0.005_189_535,
            -0.026_854_444,
            0.112_836,
            -0.376_126_26,
            0.128_379_17,
        ],
    );
    let near = s.fma(x, tail, x);
    // Above 4 the function is 1 in f32.
    let magnitude = s.min(s.splat(4.0), s.abs(x));
    let logarithm = polynomial(
        s,
        magnitude,
        &[
            7.989_321_5e-7,
            -1.269_350_4e-5,
            6.609_274e-5,
            9.447_555e-5,
            -0.003_341_172_4,
            0.023_803_774,
            -0.106_924_79,
            -0.634_222_1,
            -1.129_193_3,
            0.000_123_430_92,
        ],
    );
    let far = s.copysign(s.sub(s.splat(1.0), exp(s, logarithm)), x);
    s.select_less(s.abs(x), s.splat(1.0), near, far)
}

/// Returns a polynomial with the coefficients from the highest power to the lowest.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(s: S, x: S::V, coefficients: &[f32; N]) -> S::V {
    let mut sum = s.splat(coefficients[0]);
    for coefficient in &coefficients[1..] {
        sum = s.fma(sum, x, s.splat(*coefficient));
    }
    sum
}
