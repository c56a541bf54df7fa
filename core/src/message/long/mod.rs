//! Numbers of 64 bits in messages: written in place, or by code that only programs with such an argument link.
//!
//! | item | meaning |
//! |---|---|
//! | `link` | called for each argument that is such a number |
//! | `put` | writes a number |

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub(super) use imp::*;
