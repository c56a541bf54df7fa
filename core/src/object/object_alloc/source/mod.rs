//! Choice of the allocator for the library's own objects. Hosts and kernel libraries load it for
//! every allocation. Firmware uses the built-in one unless the program sets another, which links
//! the code that calls it.

#[cfg_attr(any(feature = "std", feature = "client"), path = "std.rs")]
#[cfg_attr(not(any(feature = "std", feature = "client")), path = "bare.rs")]
mod imp;

pub use imp::*;
