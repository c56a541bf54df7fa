//! Memory of the type table, which is never freed: carved from large blocks of malloc, or a separate block for each
//! piece.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
