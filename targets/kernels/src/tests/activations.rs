//! Activation functions against f64.

use crate::epilogue::{Activation, erf, exp};
use crate::simd::{self, Level, Simd, Work};

/// Applies a function to a number in every lane.
struct Apply<'a>(&'a mut f32, Function);

#[derive(Clone, Copy, Debug)]
enum Function {
    Exp,
    Erf,
    Activation(Activation),
}

impl Work for Apply<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let x = simd.splat(*self.0);
        let y = match self.1 {
            Function::Exp => exp(simd, x),
            Function::Erf => erf(simd, x),
            Function::Activation(activation) => activation.apply(simd, x),
        };
        let mut lanes = [0.0; 16];
        // SAFETY: the array has at least the lanes.
        unsafe { simd.store(lanes.as_mut_ptr(), y) };
        *self.0 = lanes[0];
    }
}

fn apply(level: Level, function: Function, x: f32) -> f32 {
    let mut value = x;
    simd::run(level, Apply(&mut value, function));
    value
}

/// Largest error of a function, in units in the last place of the exact result, or of `floor` where
/// that is larger.
fn largest_error(level: Level, function: Function, floor: f64, exact: impl Fn(f64) -> f64) -> f64 {
    let step = if cfg!(miri) { 4999 } else { 7 };
    let numbers = (-20_000..=20_000).step_by(step).map(|number| number as f32 / 700.0);
    let errors = numbers.map(|x| {
        let expected = exact(f64::from(x));
        (f64::from(apply(level, function, x)) - expected).abs() / unit(expected.abs().max(floor))
    });
    errors.fold(0.0, f64::max)
}

/// Unit in the last place of f32 at a positive number.
fn unit(number: f64) -> f64 {
    let power = f32::from_bits((number as f32).to_bits() & f32::INFINITY.to_bits());
    f64::from(power) * f64::from(f32::EPSILON)
}

/// Error function by its series of positive terms.
fn exact_erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-18 * sum.abs() {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    sum * 2.0 / core::f64::consts::PI.sqrt() * (-x * x).exp()
}

#[test]
fn smooth_functions_are_within_their_bounds() {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    Level::each(|level| {
        let check = |function, bound: f64, exact: &dyn Fn(f64) -> f64| {
            let error = largest_error(level, function, 0.0, exact);
            assert!(error <= bound, "{function:?} on {level:?}: {error} units");
        };
        check(Function::Exp, 1.5, &f64::exp);
        check(Function::Erf, 1.5, &exact_erf);
        check(Function::Activation(Activation::Tanh), 2.0, &f64::tanh);
        check(Function::Activation(Activation::Sigmoid), 3.0, &sigmoid);
        // The sum of 1 and the error function cancels: the unit is that of x.
        let gelu = |x: f64| x * (1.0 + exact_erf(x / 2_f64.sqrt())) / 2.0;
        let largest = largest_error(level, Function::Activation(Activation::GeluErf), 4.0, gelu);
        assert!(largest <= 4.0, "gelu on {level:?}: {largest} units of 4");
    });
}

#[test]
fn simple_functions_equal_their_definitions() {
    let relu6 = |x: f32| x.clamp(0.0, 6.0);
    Level::each(|level| {
        for number in -80..80 {
            let x = number as f32 / 8.0;
            let near = |activation, expected: f32| {
                let value = apply(level, Function::Activation(activation), x);
                assert!(
                    (value - expected).abs() <= 1e-6 * expected.abs().max(1.0),
                    "{activation:?}({x})"
                );
            };
            near(Activation::None, x);
            near(Activation::Relu, x.max(0.0));
            near(Activation::HardSigmoid, relu6(x + 3.0) / 6.0);
            near(Activation::HardSwish, x * relu6(x + 3.0) / 6.0);
            near(Activation::LeakyRelu(0.25), if x < 0.0 { x / 4.0 } else { x });
            near(Activation::Clip(-1.0, 2.0), x.clamp(-1.0, 2.0));
            let exact = f64::from(x);
            near(Activation::Silu, (exact / (1.0 + (-exact).exp())) as f32);
            let inner = (2.0 / core::f64::consts::PI).sqrt() * (exact + 0.044_715 * exact.powi(3));
            near(Activation::GeluTanh, (exact * (1.0 + inner.tanh()) / 2.0) as f32);
        }
    });
}

#[test]
fn extremes_saturate_and_nan_passes() {
    Level::each(|level| {
        let all = [Activation::Sigmoid, Activation::Tanh, Activation::GeluErf, Activation::Silu];
        for activation in all.into_iter().chain([Activation::Relu, Activation::Clip(0.0, 6.0)]) {
            assert!(
                apply(level, Function::Activation(activation), f32::NAN).is_nan(),
                "{activation:?}"
            );
        }
        let at = |activation, x| apply(level, Function::Activation(activation), x);
        assert_eq!(at(Activation::Sigmoid, 1e30), 1.0);
        assert!(at(Activation::Sigmoid, -1e30) < 1e-38);
        assert_eq!(at(Activation::Tanh, f32::NEG_INFINITY), -1.0);
        assert_eq!(at(Activation::Tanh, 1e30), 1.0);
        assert_eq!(apply(level, Function::Exp, f32::NEG_INFINITY), 0.0);
        assert!(apply(level, Function::Exp, 1e30).is_finite());
    });
}
