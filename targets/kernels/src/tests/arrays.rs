//! Arrays of tests.

use ferrite_core::abi::DLDataType;

use super::Random;
use crate::element::{Bf16, Element, F16};
use crate::simd::Scalar;

/// Element of an array.
pub trait Typed: Copy {
    /// Element type of tensors.
    const DTYPE: DLDataType;
}

/// Element that is computed as f32.
pub trait Number: Element + Typed {
    /// Largest relative rounding error.
    const EPSILON: f64;
}

macro_rules! typed {
    ($($type:ty: $code:literal, $bits:literal;)*) => {$(
        impl Typed for $type {
            const DTYPE: DLDataType = DLDataType { code: $code, bits: $bits, lanes: 1 };
        }
    )*};
}

typed! {
    f32: 2, 32;
    F16: 2, 16;
    Bf16: 4, 16;
    i8: 0, 8;
    u8: 1, 8;
    i32: 0, 32;
}

impl Number for f32 {
    const EPSILON: f64 = 1e-6;
}

impl Number for F16 {
    const EPSILON: f64 = 1.0 / 1024.0;
}

impl Number for Bf16 {
    const EPSILON: f64 = 1.0 / 128.0;
}

/// Compact array.
pub struct Array<T> {
    pub data: Vec<T>,
    pub shape: Vec<i64>,
}

impl<T> Array<T> {
    /// Returns an array of the values of a function.
    pub fn of(shape: &[usize], value: impl FnMut(usize) -> T) -> Self {
        let data = (0..shape.iter().product()).map(value).collect();
        Self { data, shape: shape.iter().map(|extent| *extent as i64).collect() }
    }
}

impl<T: Number> Array<T> {
    pub fn zeros(shape: &[usize]) -> Self {
        let shape: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
        Self { data: vec![T::ZERO; shape.iter().product::<i64>() as usize], shape }
    }

    pub fn random(random: &mut Random, shape: &[usize]) -> Self {
        let mut array = Self::zeros(shape);
        for number in &mut array.data {
            *number = of_f32(random.number());
        }
        array
    }

    /// Returns an array whose elements show that they were not written.
    pub fn unwritten(shape: &[usize]) -> Self {
        let mut array = Self::zeros(shape);
        array.data.fill(of_f32(77.0));
        array
    }

    pub fn at(&self, index: usize) -> f64 {
        f64::from(self.data[index].to_f32())
    }

    /// Compares with exact values and the sums of magnitudes that bound their rounding errors.
    pub fn assert_near(&self, expected: impl Fn(usize) -> (f64, f64), case: &str) {
        // Miri looks for undefined behaviour, and needs most of its time for exact values.
        let step = if cfg!(miri) { 61 } else { 1 };
        for index in (0..self.data.len()).step_by(step) {
            let (value, magnitude) = expected(index);
            let error = (self.at(index) - value).abs();
            assert!(
                error <= T::EPSILON * (magnitude + value.abs()) + 1e-6,
                "{case}: element {index} is {}, expected {value}",
                self.at(index)
            );
        }
    }
}

/// Rounds a number to an element.
pub fn of_f32<T: Element>(number: f32) -> T {
    let mut lanes = [T::ZERO; 4];
    // SAFETY: the array has four elements, as many as lanes.
    unsafe { T::store(Scalar, lanes.as_mut_ptr(), [number; 4]) };
    lanes[0]
}
