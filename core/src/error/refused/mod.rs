//! The MemoryError of a refused allocation: its text tells the bytes that were asked, and in firmware those that are free.

#[cfg_attr(any(feature = "std", all(feature = "client", unix)), path = "std.rs")]
#[cfg_attr(not(any(feature = "std", all(feature = "client", unix))), path = "bare.rs")]
mod imp;

pub(super) use imp::refused;
#[cfg(not(any(feature = "std", feature = "client")))]
pub(crate) use imp::refused_of;
