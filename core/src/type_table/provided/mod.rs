//! Types that the library itself registers when a type is first looked up, through a provider of the host.

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub use imp::*;
