//! The strings of a registered function: its documentation and metadata. Builds without an
//! operating system store none, and generate those of static functions on demand.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

#[cfg(feature = "std")]
pub(crate) use imp::TEXTS;
pub(super) use imp::*;
