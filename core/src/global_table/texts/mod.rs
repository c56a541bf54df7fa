//! The documentation and metadata of a registered function. Builds without an operating system keep none, and make
//! those of static functions on demand.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

#[cfg(feature = "std")]
pub(crate) use imp::TEXTS;
pub(super) use imp::*;
