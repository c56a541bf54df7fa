//! Detection of single-threaded processes, in which shared state may be changed without locked instructions: by glibc's
//! flag on Linux; elsewhere a process always counts as multi-threaded.

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
