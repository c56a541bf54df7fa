//! Counters for single-threaded processes, changed by single unlocked instructions on x86-64 Linux,
//! and atomically elsewhere.

#[cfg_attr(
    all(
        feature = "std",
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu",
        not(miri)
    ),
    path = "x86_64.rs"
)]
#[cfg_attr(
    not(all(
        feature = "std",
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu",
        not(miri)
    )),
    path = "bare.rs"
)]
mod imp;

pub use imp::*;
