//! 64-bit numbers in messages; in size-optimised builds their code is lazily linked.
//!
//! | item | meaning |
//! |---|---|
//! | `link` | called for each 64-bit argument |
//! | `put` | writes a number |

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
