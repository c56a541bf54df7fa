//! Element types that can be sorted, and element types in which the sorted indices can be written.

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Error;
use ferrite_core::plain_error;
use ferrite_core::tensor::Element;
use ferrite_core::value::dtype::{self, code};

/// An element type with a total order, in which both zeros are equal and NaN is the largest value.
pub(super) trait Key: Element {
    /// Returns an integer that orders like the value.
    fn rank(self) -> i64;
}

/// A half-precision number, given by its bits.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Half(u16);

// SAFETY: 16 bits without invalid patterns, as such elements have.
unsafe impl Element for Half {
    const DTYPE: DLDataType = DLDataType { code: code::FLOAT, bits: 16, lanes: 1 };
}

impl Half {
    const INFINITY: Half = Half(0x7c00);

    fn to_bits(self) -> u16 {
        self.0
    }
}

macro_rules! integer_keys {
    ($($key:ty),*) => {$(
        impl Key for $key {
            fn rank(self) -> i64 {
                i64::from(self)
            }
        }
    )*};
}

integer_keys!(i8, u8, i32, i64);

macro_rules! float_keys {
    ($($key:ty: $bits:ty),*) => {$(
        impl Key for $key {
            fn rank(self) -> i64 {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let magnitude = self.to_bits() & !SIGN;
                match self.to_bits() & SIGN {
                    _ if magnitude > <$key>::INFINITY.to_bits() => i64::MAX,
                    0 => magnitude as i64,
                    _ => -(magnitude as i64),
                }
            }
        }
    )*};
}

float_keys!(Half: u16, f32: u32, f64: u64);

/// An element type for indices into a line.
pub(super) trait Index: Element {
    /// Converts an index to this type. Indices that do not fit are rounded or truncated, as
    /// upstream does.
    fn from_place(place: usize) -> Self;
}

macro_rules! indices {
    ($($index:ty),*) => {$(
        impl Index for $index {
            fn from_place(place: usize) -> Self {
                place as $index
            }
        }
    )*};
}

indices!(i8, u8, i32, i64, f32, f64);

/// Evaluates a body with `$key` bound to the Rust type of a dtype that can be sorted.
macro_rules! for_key_type {
    ($dtype:expr, $key:ident, $body:block) => {
        $crate::builtins::sort::key::for_types!("input", $dtype, $key, $body;
            f32, f64, i32, i64, $crate::builtins::sort::key::Half, u8, i8)
    };
}

/// Evaluates a body with `$index` bound to the Rust type of a dtype for indices.
macro_rules! for_index_type {
    ($dtype:expr, $index:ident, $body:block) => {
        $crate::builtins::sort::key::for_types!("output", $dtype, $index, $body; i32, i64, f32, f64, u8, i8)
    };
}

macro_rules! for_types {
    ($what:literal, $dtype:expr, $name:ident, $body:block; $($type:ty),*) => {
        match $dtype {
            $(dtype if dtype == <$type as ferrite_core::tensor::Element>::DTYPE => {
                type $name = $type;
                $body
            })*
            dtype => Err($crate::builtins::sort::key::unsupported($what, dtype)),
        }
    };
}

/// Returns the error for a dtype that cannot be sorted or that cannot store indices.
#[cold]
pub(super) fn unsupported(what: &'static str, dtype: DLDataType) -> Error {
    match dtype::to_string(dtype) {
        Ok(text) => plain_error!(INTERNAL_ERROR, "Unsupported {} dtype: {}", what, &text),
        Err(error) => error,
    }
}

pub(super) use {for_index_type, for_key_type, for_types};
