//! The types that the ABI fixes: entries in static tables, with the fields that they have upstream; or made when first looked up.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
