//! Conversion of integers to and from decimal digits: eight digits at a time (`fast.rs`), or one at
//! a time with 32-bit divisions (`small.rs`).
//!
//! Both files implement `write_int`. The other functions of `fast.rs` are used by the
//! speed-optimised code for floats and short numbers.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(crate) use fast::write_int;
#[cfg(feature = "speed")]
pub(super) use fast::{power_of_ten, read, write, write_fraction};
#[cfg(not(feature = "speed"))]
pub(crate) use small::write_int;
