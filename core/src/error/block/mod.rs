//! The backtrace of an error as C updates it: a block that updates replace; in builds without backtraces, updates change nothing.
//!
//! | item | meaning |
//! |---|---|
//! | `BlockBytes`, `NONE` | the bytes of the block in the error's record, and their value without a block |
//! | `UPDATE` | the `update_backtrace` of errors made here |
//! | `release` | frees the block |

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
