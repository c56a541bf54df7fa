//! Fast path for numbers with few digits. Size-optimised builds have none, and parse every number by exact arithmetic.
//!
//! Both files implement `read`, which returns `None` for numbers that need the general case.

#[cfg(feature = "speed")]
mod fast;
#[cfg(not(feature = "speed"))]
mod small;

#[cfg(feature = "speed")]
pub(super) use fast::read;
#[cfg(not(feature = "speed"))]
pub(super) use small::read;
