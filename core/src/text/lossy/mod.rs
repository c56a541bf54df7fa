//! Bytes in messages that are no UTF-8: replaced as Rust's own lossy conversion does, or written as they are.

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
