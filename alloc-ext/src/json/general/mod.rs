//! Floats with a given number of significant digits, in the format of C's `%g`.
//!
//! Both files have `write_finite`, the form of floats in JSON, and `write_general`, which is `%.Ng`.

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
