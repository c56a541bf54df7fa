//! Class of modules: static data of one implementation, namely its operations and, on hosts, its
//! Rust type.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::Class;
