//! Backtrace capture for errors created by this library. Builds without backtraces and kernel
//! libraries capture nothing.

#[cfg_attr(all(feature = "std", not(feature = "client")), path = "std.rs")]
#[cfg_attr(not(all(feature = "std", not(feature = "client"))), path = "bare.rs")]
mod imp;
