//! Prefetch hints: memory that will be needed soon is loaded while there is other work to do. Without effect on other processors
//! than x86-64.

#[cfg_attr(all(target_arch = "x86_64", feature = "speed", not(miri)), path = "x86_64.rs")]
#[cfg_attr(not(all(target_arch = "x86_64", feature = "speed", not(miri))), path = "bare.rs")]
mod imp;

pub use imp::*;
