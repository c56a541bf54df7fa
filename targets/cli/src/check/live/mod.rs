//! Counts the memory that is in use, to find leaks of calls.

#[cfg_attr(feature = "cxx-abi", path = "heap.rs")]
#[cfg_attr(not(feature = "cxx-abi"), path = "objects.rs")]
mod count;

pub use count::{UNIT, begin, now};

/// Environment variable for checked child processes. Disables glibc's lists of freed blocks of each
/// thread.
pub const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
