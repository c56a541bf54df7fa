//! 64-bit numbers as message arguments. In size-optimised builds the code that writes them is
//! lazily linked.
//!
//! | item | meaning |
//! |---|---|
//! | `link` | links the code; called for each 64-bit argument |
//! | `put` | writes a number |

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
