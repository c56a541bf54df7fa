//! Decimal digits of integers: eight at a time (`fast.rs`), or one by one in 32-bit divisions (`small.rs`).
//!
//! Both files have `write_int`. The other functions of the fast one serve the fast forms of floats and short numbers.

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
