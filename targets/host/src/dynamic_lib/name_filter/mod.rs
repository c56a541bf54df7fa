//! Rules out names that a shared object does not define, without a call of `dlsym`, which formats an error text for each.
//!
//! `glibc.rs` reads the tables of the dynamic linker. On other systems (`other.rs`) there is no filter, and `dlsym` gets every
//! lookup.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[path = "glibc.rs"]
mod filter;
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")))]
#[path = "other.rs"]
mod filter;

pub(super) use filter::NameFilter;
