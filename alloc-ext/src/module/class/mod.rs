//! Class of modules: static data of one implementation, namely its operations and, with
//! `module-types`, its Rust type.

#[cfg_attr(feature = "module-types", path = "std.rs")]
#[cfg_attr(not(feature = "module-types"), path = "bare.rs")]
mod imp;

pub(super) use imp::Class;
