//! Rules out names that a shared object does not define, without calling `dlsym`, which formats an
//! error message for every missing name.
//!
//! `glibc.rs` reads the dynamic linker's hash tables. On other systems (`other.rs`) there is no
//! filter, and `dlsym` performs every lookup.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[path = "glibc.rs"]
mod filter;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
#[path = "other.rs"]
mod filter;

pub(super) use filter::NameFilter;
