//! The allocator that the library's own objects come from: asked anew each time on hosts and in kernel libraries; in firmware the
//! built-in one, unless the program sets another, which alone links the code that asks it.

#[cfg_attr(any(feature = "std", feature = "client"), path = "std.rs")]
#[cfg_attr(not(any(feature = "std", feature = "client")), path = "bare.rs")]
mod imp;

pub use imp::*;
