//! The MemoryError of a failed allocation: its message states the number of requested bytes and, in
//! firmware, of free bytes.

#[cfg_attr(any(feature = "std", all(feature = "client", unix)), path = "std.rs")]
#[cfg_attr(not(any(feature = "std", all(feature = "client", unix))), path = "bare.rs")]
mod imp;

#[cfg(not(any(feature = "std", feature = "client")))]
pub(crate) use imp::out_of_memory_with_free;
pub(super) use imp::{error_of, in_place_of_static};
