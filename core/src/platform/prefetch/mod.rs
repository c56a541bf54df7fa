//! Prefetch hints for memory that will be accessed soon. Implemented for speed-optimised builds on
//! x86-64; no-ops in other builds.

#[cfg_attr(all(target_arch = "x86_64", feature = "speed", not(miri)), path = "x86_64.rs")]
#[cfg_attr(not(all(target_arch = "x86_64", feature = "speed", not(miri))), path = "bare.rs")]
mod imp;

pub use imp::*;
