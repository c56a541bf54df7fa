//! The memory block that stores the backtrace of an error, and is replaced by updates from C. In
//! builds without backtraces, updates have no effect.
//!
//! | item | meaning |
//! |---|---|
//! | `BlockBytes`, `NONE` | the size of the block in the error's record, and its value without a block |
//! | `UPDATE` | the `update_backtrace` callback of errors created by this library |
//! | `release` | frees the block |

#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

pub(super) use imp::*;
