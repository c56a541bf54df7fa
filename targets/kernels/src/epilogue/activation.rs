//! Activation functions by their codes.

use super::functions::{erf, reciprocal_of_one_plus_exp, tanh};
use crate::arguments::{Arguments, Result, raise};
use crate::simd::Simd;

/// Activation function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The identity.
    None,
    /// `max(x, 0)`.
    Relu,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `x (1 + erf(x / sqrt 2)) / 2`.
    GeluErf,
    /// `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`.
    GeluTanh,
    /// `x sigmoid(x)`.
    Silu,
    /// `x clip(x + 3, 0, 6) / 6`.
    HardSwish,
    /// `clip(x + 3, 0, 6) / 6`.
    HardSigmoid,
    /// `x`, or `alpha x` where it is negative.
    LeakyRelu(f32),
    /// `x` between two bounds.
    Clip(f32, f32),
}

impl Activation {
    /// Reads the code and its two parameters from three arguments.
    ///
    /// # Errors
    /// TypeError for arguments of different types, ValueError for an unknown code.
    pub fn read(args: &Arguments<'_>, at: usize) -> Result<Self> {
        let code = args.int(at, "activation")?;
        let low = args.float(at + 1, "lo")? as f32;
        let high = args.float(at + 2, "hi")? as f32;
        Ok(match code {
            0 => Self::None,
            1 => Self::Relu,
            2 => Self::Clip(0.0, 6.0),
            3 => Self::Sigmoid,
            4 => Self::Tanh,
            5 => Self::GeluErf,
            6 => Self::GeluTanh,
            7 => Self::Silu,
            8 => Self::HardSwish,
            9 => Self::HardSigmoid,
            10 => Self::LeakyRelu(low),
            11 => Self::Clip(low, high),
            _ => {
                let function = args.function();
                return Err(raise!(Value, "{function}: activation {code} is not a known code"));
            }
        })
    }

    /// Applies the function to a vector.
    #[inline(always)]
    pub fn apply<S: Simd>(self, s: S, x: S::V) -> S::V {
        let constant = |value| s.splat(value);
        match self {
            Self::None => x,
            Self::Relu => s.max(constant(0.0), x),
            Self::Sigmoid => sigmoid(s, x),
            Self::Tanh => tanh(s, x),
            Self::GeluErf => {
                let error = erf(s, s.mul(x, constant(core::f32::consts::FRAC_1_SQRT_2)));
                half_times_one_plus(s, x, error)
            }
            Self::GeluTanh => {
                let cubic = s.fma(s.mul(x, x), constant(0.044_715), constant(1.0));
                let inner = s.mul(s.mul(x, constant(0.797_884_6)), cubic);
                half_times_one_plus(s, x, tanh(s, inner))
            }
            Self::Silu => s.mul(x, sigmoid(s, x)),
            Self::HardSwish => s.mul(x, hard_sigmoid(s, x)),
            Self::HardSigmoid => hard_sigmoid(s, x),
            Self::LeakyRelu(alpha) => s.select_less(x, constant(0.0), s.mul(x, constant(alpha)), x),
            Self::Clip(low, high) => s.min(constant(high), s.max(constant(low), x)),
        }
    }
}

#[inline(always)]
fn sigmoid<S: Simd>(s: S, x: S::V) -> S::V {
    reciprocal_of_one_plus_exp(s, s.sub(s.splat(0.0), x))
}

#[inline(always)]
fn hard_sigmoid<S: Simd>(s: S, x: S::V) -> S::V {
    let shifted = s.add(x, s.splat(3.0));
    let clipped = s.min(s.splat(6.0), s.max(s.splat(0.0), shifted));
    s.mul(clipped, s.splat(1.0 / 6.0))
}

#[inline(always)]
fn half_times_one_plus<S: Simd>(s: S, x: S::V, y: S::V) -> S::V {
    let half = s.mul(x, s.splat(0.5));
    s.fma(half, y, half)
}
