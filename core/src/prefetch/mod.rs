//! Prefetch hints for memory that will be accessed soon. They have an effect on x86-64 only.

#[cfg_attr(all(target_arch = "x86_64", feature = "speed", not(miri)), path = "x86_64.rs")]
#[cfg_attr(not(all(target_arch = "x86_64", feature = "speed", not(miri))), path = "bare.rs")]
mod imp;

pub use imp::*;
