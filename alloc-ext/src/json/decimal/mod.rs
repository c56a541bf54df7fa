//! Correctly rounded conversion of decimal numbers to floats and back.
//!
//! `read` parses a number; `significant_digits` returns the leading digits of a float.
//! Speed-optimised builds use 128-bit arithmetic, and `core` for rare cases (`fast.rs`).
//! Size-optimised builds use exact decimal arithmetic without tables (`small.rs`). The results are
//! the same.

#[cfg(feature = "speed")]
mod fast;
#[cfg(any(test, not(feature = "speed")))]
mod long_decimal;
#[cfg(any(test, not(feature = "speed")))]
mod small;
#[cfg(test)]
mod tests;

#[cfg(feature = "speed")]
pub(super) use fast::{read, significant_digits, small_whole};
#[cfg(not(feature = "speed"))]
pub(super) use long_decimal::LongDecimal;
#[cfg(not(feature = "speed"))]
pub(super) use small::{read, significant_digits};

/// A parsed JSON number: an int or a float.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Int(i64),
    Float(f64),
}
