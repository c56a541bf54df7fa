//! Detection of single-threaded processes, in which shared state may be changed without locked
//! instructions. Uses glibc's flag on Linux; on other systems every process counts as
//! multi-threaded.

#[cfg_attr(
    all(
        feature = "std",
        target_arch = "x86_64",
        target_os = "linux",
        target_env = "gnu",
        not(miri)
    ),
    path = "linux.rs"
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
