//! Fast path of a comparison that creates no nodes and frames. Size-optimised builds have none.
//!
//! Both files define `compare_arrays`, for Arrays of leaves.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::compare_arrays;
