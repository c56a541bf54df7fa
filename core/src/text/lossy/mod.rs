//! Invalid UTF-8 in messages: replaced as Rust's own lossy conversion does, or written unchanged in small builds.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
