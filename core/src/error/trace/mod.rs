//! Capture of the backtraces of errors made by this library; none in builds without backtraces and in kernel libraries.

#[cfg_attr(all(feature = "std", not(feature = "client")), path = "std.rs")]
#[cfg_attr(not(all(feature = "std", not(feature = "client"))), path = "bare.rs")]
mod imp;
