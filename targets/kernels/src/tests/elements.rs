//! Conversions of 16-bit elements.

use crate::element::{Bf16, Element, F16};
use crate::simd::{self, Level, Simd, Work};

/// Conversion of a number to an element.
struct Rounding<'a, T>(&'a mut T, f32);

impl<T: Element> Work for Rounding<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut lanes = [T::ZERO; 16];
        // SAFETY: the array has at least the lanes.
        unsafe { T::store(simd, lanes.as_mut_ptr(), simd.splat(self.1)) };
        *self.0 = lanes[S::LANES - 1];
    }
}

fn round<T: Element>(level: Level, number: f32) -> T {
    let mut element = T::ZERO;
    simd::run(level, Rounding(&mut element, number));
    element
}

#[test]
fn half_precision_rounds_to_nearest_even_on_each_level() {
    let cases = [
        (0.0, 0x0000),
        (-0.0, 0x8000),
        (1.0, 0x3c00),
        (65504.0, 0x7bff),
        (65520.0, 0x7c00),
        (65519.9, 0x7bff),
        (1e9, 0x7c00),
        (f32::NEG_INFINITY, 0xfc00),
        (6.103_515_6e-5, 0x0400),
        (5.960_464_5e-8, 0x0001),
        (2.980_232_2e-8, 0x0000),
        (8.940_697e-8, 0x0002),
        (1.000_488_3, 0x3c00),
        (1.001_464_8, 0x3c02),
    ];
    Level::each(|level| {
        for (number, bits) in cases {
            assert_eq!(round::<F16>(level, number).0, bits, "{number} on {level:?}");
        }
        assert!(round::<F16>(level, f32::NAN).to_f32().is_nan());
    });
    for bits in (0..=0x7c00_u16).chain(0x8000..=0xfc00) {
        assert_eq!(round::<F16>(Level::Scalar, F16(bits).to_f32()).0, bits);
    }
}

#[test]
fn bfloat16_rounds_to_nearest_even_on_each_level() {
    let cases = [
        (1.0, 0x3f80),
        (-2.0, 0xc000),
        (1.003_906_3, 0x3f80),
        (1.011_718_8, 0x3f82),
        (f32::MAX, 0x7f80),
        (f32::INFINITY, 0x7f80),
    ];
    Level::each(|level| {
        for (number, bits) in cases {
            assert_eq!(round::<Bf16>(level, number).0, bits, "{number} on {level:?}");
        }
        assert!(round::<Bf16>(level, f32::NAN).to_f32().is_nan());
        assert!(round::<Bf16>(level, f32::from_bits(0x7f80_0001)).to_f32().is_nan());
    });
}
