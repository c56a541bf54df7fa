//! Fast paths of a comparison that skip nodes and frames. Small builds have none.
//!
//! Both files have `compare_arrays`, for Arrays of leaves, and `descend`, from a frame to its next child.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::{compare_arrays, descend};
