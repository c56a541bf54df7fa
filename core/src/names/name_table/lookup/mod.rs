//! Lookup of entries by the hash of their name: a hash index on systems with memory for large
//! tables; on bare metal a trie of the entries themselves, which needs less code and memory.

#[cfg_attr(not(target_os = "none"), path = "std.rs")]
#[cfg_attr(target_os = "none", path = "bare.rs")]
mod imp;

pub(super) use imp::*;
