//! Fast paths of a comparison that avoid creating nodes and frames. Size-optimised builds have
//! none.
//!
//! Both files define `compare_arrays`, for Arrays of leaves, and `descend`, which enters the next
//! child of a frame.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::{compare_arrays, descend};
