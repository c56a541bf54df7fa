//! Counts the memory that is in use, to find leaks of calls.

#[cfg_attr(feature = "cxx-abi", path = "heap.rs")]
#[cfg_attr(not(feature = "cxx-abi"), path = "objects.rs")]
mod count;

pub use count::{UNIT, begin, now};

/// Environment variable of child processes that are checked: glibc keeps no lists of freed blocks
/// per thread.
pub const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
