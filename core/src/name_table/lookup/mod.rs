//! From a hash to the entries of names: an index where an operating system has memory for large tables; on bare metal the entries
//! themselves, as a trie, which needs less code and memory.

#[cfg_attr(not(target_os = "none"), path = "std.rs")]
#[cfg_attr(target_os = "none", path = "bare.rs")]
mod imp;

pub(super) use imp::*;
