//! Whether the process is single-threaded, so that what threads share may be changed without locked instructions: as glibc tells on
//! Linux; never known elsewhere.

#[cfg_attr(
    all(feature = "std", target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)),
    path = "linux.rs"
)]
#[cfg_attr(
    not(all(feature = "std", target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri))),
    path = "bare.rs"
)]
mod imp;

pub use imp::*;
