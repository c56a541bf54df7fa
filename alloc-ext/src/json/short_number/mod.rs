//! Fast path of numbers with few digits. Small builds have none, and read every number by exact arithmetic.
//!
//! Both files have `read`, which returns `None` for numbers that need the general path.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(super) use fast::read;
#[cfg(not(feature = "speed"))]
pub(super) use small::read;
