//! Memory of the type table, which is never given back: carved from large blocks of malloc, or a block of its own for each piece.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
