//! Products and convolutions of 8-bit integers.

use super::arrays::{Array, Typed};
use super::conv::Case;
use super::{CASES, Call, Random};
use crate::quantized::convolution::{pack_qconv2d, qconv2d};
use crate::quantized::dense::{pack_qdense, qdense};
use crate::simd::Level;

const INNER: [usize; 9] = [0, 1, 3, 4, 5, 16, 17, 63, 130];
const OUTER: [usize; 9] = [0, 1, 2, 5, 12, 13, 16, 33, 67];

/// Distance of compared elements: Miri looks for undefined behaviour, and loops are slow in it.
const STEP: usize = if cfg!(miri) { 61 } else { 1 };

/// Integer of 8 bits.
trait Byte: Typed + Into<i64> {
    fn random(random: &mut Random) -> Self;
    /// Rounds to nearest even, within the bounds.
    fn of(value: f64) -> Self;
}

impl Byte for u8 {
    fn random(random: &mut Random) -> Self {
        [random.next() as u8, 0, 255][random.below(8).saturating_sub(5)]
    }

    fn of(value: f64) -> Self {
        value.round_ties_even() as u8
    }
}

impl Byte for i8 {
    fn random(random: &mut Random) -> Self {
        [random.next() as i8, -128, 127][random.below(8).saturating_sub(5)]
    }

    fn of(value: f64) -> Self {
        value.round_ties_even() as i8
    }
}

fn bytes<T: Byte>(random: &mut Random, shape: &[usize]) -> Array<T> {
    Array::of(shape, |_| T::random(random))
}

/// Arguments after the weights, and what they make of a sum.
struct Last<T> {
    zero: Array<T>,
    scale: Array<f32>,
    bias: Array<i32>,
    shift: Array<f32>,
    residual: Array<f32>,
    out_zero: i8,
}

impl<T: Byte> Last<T> {
    fn random(random: &mut Random, channels: usize, out: &[usize]) -> Self {
        let optional = |random: &mut Random, shape: &[usize]| random.optional(shape);
        let (bias, shift) = (optional(random, &[channels]), optional(random, &[channels]));
        let (zero, residual) = (optional(random, &[1]), optional(random, out));
        let scales = random.one_of(&[1, channels]);
        Self {
            zero: bytes(random, &zero),
            // Powers of two keep ties.
            scale: Array::of(&[scales], |_| 0.5_f32.powi(random.below(3) as i32 + 6)),
            bias: Array::of(&bias, |_| random.below(2001) as i32 - 1000),
            shift: Array::of(&shift, |_| random.number()),
            residual: Array::of(&residual, |_| random.number()),
            out_zero: <i8 as Byte>::random(random),
        }
    }

    fn zero(&self) -> i64 {
        self.zero.data.first().map_or(0, |zero| (*zero).into())
    }

    fn biased(&self, sum: i64, channel: usize) -> i64 {
        sum + self.bias.data.get(channel).map_or(0, |bias| i64::from(*bias))
    }

    fn scaled(&self, sum: i64, channel: usize) -> f64 {
        let scale = self.scale.data[channel % self.scale.data.len()];
        f64::from(sum as f32 * scale)
    }

    /// Calls a function with outputs of each type, and compares them with exact sums.
    fn check(
        &self,
        start: impl Fn() -> Call,
        finish: impl Fn(Call) -> Call,
        function: super::Function,
        (shape, channel): (&[usize], impl Fn(usize) -> usize),
        sum: impl Fn(usize) -> i64,
    ) {
        let out = Array::of(shape, |_| 77_i32);
        let call = start().tensor(&self.zero).absent().int(0).tensor(&self.bias).absent();
        finish(call).activation(0).tensor(&out).run(function).unwrap();
        for (index, got) in out.data.iter().enumerate().step_by(STEP) {
            let expected = self.biased(sum(index), channel(index));
            assert_eq!(i64::from(*got), expected, "element {index} of {shape:?}");
        }

        let out = Array::of(shape, |_| 77_i8);
        let call = start().tensor(&self.zero).tensor(&self.scale).int(self.out_zero.into());
        let call = finish(call.tensor(&self.bias).absent());
        call.activation(1).tensor(&out).run(function).unwrap();
        for (index, got) in out.data.iter().enumerate().step_by(STEP) {
            let channel = channel(index);
            let value = self.scaled(self.biased(sum(index), channel), channel).max(0.0);
            let expected = <i8 as Byte>::of(value.round_ties_even() + f64::from(self.out_zero));
            assert_eq!(*got, expected, "element {index} of {shape:?}");
        }

        let out = Array::of(shape, |_| 77_u8);
        let call = start().tensor(&self.zero).tensor(&self.scale).int(200);
        let call = finish(call.tensor(&self.shift).tensor(&self.residual));
        call.int(11).float(-150.0).float(40.0).tensor(&out).run(function).unwrap();
        let real = |index: usize| {
            let shift = self.shift.data.get(channel(index)).copied().unwrap_or(0.0);
            let residual = self.residual.data.get(index).copied().unwrap_or(0.0);
            let value = self.scaled(sum(index), channel(index)) as f32 + shift + residual;
            f64::from(value.clamp(-150.0, 40.0))
        };
        for (index, got) in out.data.iter().enumerate().step_by(STEP) {
            let expected = <u8 as Byte>::of(real(index).round_ties_even() + 200.0);
            assert_eq!(*got, expected, "element {index} of {shape:?}");
        }

        let out = Array::of(shape, |_| 77_f32);
        let call = start().tensor(&self.zero).tensor(&self.scale).int(0);
        let call = finish(call.tensor(&self.shift).tensor(&self.residual));
        call.int(11).float(-150.0).float(40.0).tensor(&out).run(function).unwrap();
        for (index, got) in out.data.iter().enumerate().step_by(STEP) {
            assert_eq!(f64::from(*got), real(index), "element {index} of {shape:?}");
        }
    }
}

fn dense_case<T: Byte>(random: &mut Random, [m, k, n]: [usize; 3]) {
    let transposed = random.below(2) == 1;
    let x = bytes::<T>(random, &[m, k]);
    let w = bytes::<i8>(random, &if transposed { [n, k] } else { [k, n] });
    let packed = Array::of(&[n.div_ceil(16), k.div_ceil(4) + 1, 64], |_| 77_i8);
    let call = Call::default().tensor(&w).int(transposed.into()).tensor(&packed);
    call.run(pack_qdense).unwrap();
    let last = Last::<T>::random(random, n, &[m, n]);
    let sum = |index: usize| {
        let (row, column) = (index / n, index % n);
        (0..k)
            .map(|at| {
                let weight = w.data[if transposed { column * k + at } else { at * n + column }];
                let x: i64 = x.data[row * k + at].into();
                (x - last.zero()) * i64::from(weight)
            })
            .sum()
    };
    let start = || Call::default().tensor(&x).tensor(&packed);
    last.check(start, |call| call, qdense, (&[m, n], |index| index % n), sum);
}

#[test]
fn products_of_integers_equal_a_loop_for_random_extents() {
    Level::each_of_integers(|level| {
        let mut random = Random(30 + level as u64);
        for case in 0..CASES {
            let extents = [&OUTER, &INNER, &OUTER].map(|extents| random.one_of(extents));
            if case % 2 == 0 {
                dense_case::<u8>(&mut random, extents);
            } else {
                dense_case::<i8>(&mut random, extents);
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large; the small cases have each path")]
fn products_of_integers_are_split_among_tasks() {
    Level::each_of_integers(|_| {
        let mut random = Random(2);
        dense_case::<u8>(&mut random, [200, 64, 33]);
        dense_case::<i8>(&mut random, [300, 1030, 40]);
        dense_case::<u8>(&mut random, [3, 300, 400]);
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn the_largest_sums_do_not_wrap() {
    // 255 * 128 * 65793 is the last multiple below 2^31.
    let k = i32::MAX as usize / (255 * 128);
    let (x, w) = (Array::of(&[1, k], |_| 255_u8), Array::of(&[k, 1], |_| -128_i8));
    let packed = Array::of(&[1, k.div_ceil(4) + 1, 64], |_| 0_i8);
    Call::default().tensor(&w).int(0).tensor(&packed).run(pack_qdense).unwrap();
    Level::each_of_integers(|_| {
        let out = Array::of(&[1, 1], |_| 0_i32);
        let call = Call::default().tensor(&x).tensor(&packed).absent().absent().int(0);
        call.absent().absent().activation(0).tensor(&out).run(qdense).unwrap();
        assert_eq!(out.data, [-255 * 128 * k as i32]);
    });
}

fn convolution_case<T: Byte>(random: &mut Random, case: &Case) {
    let ([kh, kw], [oh, ow], [height, width]) = (case.kernel, case.output(), case.input);
    let channels = case.channels / case.groups;
    let x = bytes::<T>(random, &[case.batch, case.channels, height, width]);
    let w = bytes::<i8>(random, &[case.outputs, channels, kh, kw]);
    let row = 4 + (channels * kh * kw).next_multiple_of(4);
    let packed = Array::of(&[case.outputs, row], |_| 77_i8);
    let parameters = case.parameters();
    let call = Call::default().tensor(&w).shape(&parameters).tensor(&packed);
    call.run(pack_qconv2d).unwrap();
    let shape = [case.batch, case.outputs, oh, ow];
    let last = Last::<T>::random(random, case.outputs, &shape);
    let sum = |index: usize| {
        let mut sum = 0;
        case.each_term(index, |at, weight| {
            let x: i64 = x.data[at].into();
            sum += (x - last.zero()) * i64::from(w.data[weight]);
        });
        sum
    };
    let start = || Call::default().tensor(&x).tensor(&packed);
    let channel = |index: usize| index / ow / oh % case.outputs;
    last.check(start, |call| call.shape(&parameters), qconv2d, (&shape, channel), sum);
}

#[test]
fn convolutions_of_integers_equal_a_loop_for_random_geometry() {
    Level::each_of_integers(|level| {
        let mut random = Random(40 + level as u64);
        for at in 0..CASES {
            for case in [Case::random(&mut random), Case::depthwise(&mut random)] {
                if at % 2 == 0 {
                    convolution_case::<u8>(&mut random, &case);
                } else {
                    convolution_case::<i8>(&mut random, &case);
                }
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large; the small cases have each path")]
fn convolutions_of_integers_are_split_among_tasks() {
    Level::each_of_integers(|_| {
        let mut random = Random(6);
        convolution_case::<u8>(&mut random, &Case::plain(8, 40, 24, 3, 1));
        convolution_case::<i8>(&mut random, &Case::plain(64, 7, 100, 3, 1));
        convolution_case::<i8>(&mut random, &Case::plain(150, 7, 30, 3, 1));
        convolution_case::<u8>(&mut random, &Case::plain(300, 1, 700, 1, 1));
        convolution_case::<u8>(&mut random, &Case::plain(32, 33, 32, 5, 32));
    });
}

#[test]
fn outputs_and_zero_points_are_checked() {
    let (x, w) = (Array::of(&[2, 4], |_| 1_u8), Array::of(&[1, 2, 64], |_| 0_i8));
    let (scale, zero) = (Array::of(&[1], |_| 1_f32), Array::of(&[1], |_| 1_i8));
    let none = Array::of(&[0], |_| 0_f32);
    let run = |zero: &Array<i8>, scale: &Array<f32>, out_zero, last: fn(Call) -> Call| {
        let call = Call::default().tensor(&x).tensor(&w).tensor(zero).tensor(scale).int(out_zero);
        last(call.absent().absent().activation(0)).run(qdense).unwrap_err()
    };
    let sums = |call: Call| call.tensor(&Array::of(&[2, 3], |_| 0_i32));
    let rounded = |call: Call| call.tensor(&Array::of(&[2, 3], |_| 0_u8));
    let absent = Array::of(&[0], |_| 0_i8);
    let message = "TypeError: f: zero has elements of type I8, expected U8";
    assert_eq!(run(&zero, &none, 0, sums), message);
    let message = "ValueError: f: out of I32 takes neither scale nor residual nor activation";
    assert_eq!(run(&absent, &scale, 0, sums), message);
    assert_eq!(run(&absent, &none, 0, rounded), "ValueError: f: scale is missing");
    assert_eq!(run(&absent, &scale, 256, rounded), "ValueError: f: out_zero is 256");
}
