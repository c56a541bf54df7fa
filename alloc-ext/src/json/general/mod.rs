//! Formatting of floats with a given number of significant digits, like C's `%g`.
//!
//! Both files implement `write_finite`, the JSON format of floats, and `write_general`, the format
//! `%.Ng`.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(super) use fast::write_finite;
#[cfg(feature = "speed")]
pub(crate) use fast::write_general;
#[cfg(not(feature = "speed"))]
pub(super) use small::write_finite;
#[cfg(not(feature = "speed"))]
pub(crate) use small::write_general;

/// Number of significant digits that distinguishes all 64-bit floats.
const DIGITS: usize = 17;
