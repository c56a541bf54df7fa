//! Counters of a single-threaded process, changed in one unlocked instruction; elsewhere atomically.

#[cfg_attr(
    all(feature = "std", target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)),
    path = "x86_64.rs"
)]
#[cfg_attr(
    not(all(feature = "std", target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri))),
    path = "bare.rs"
)]
mod imp;

pub use imp::*;
