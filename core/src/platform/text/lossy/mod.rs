//! Output of bytes in messages: invalid UTF-8 is replaced as by Rust's own lossy conversion, or
//! written unchanged in size-optimised builds.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
