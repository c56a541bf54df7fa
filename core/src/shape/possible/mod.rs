//! Whether a tensor of a shape and a data type may have a possible size in bytes: by a quick test first, or by computing the size.
//!
//! | item | meaning |
//! |---|---|
//! | `has_possible_size` | whether packed elements of a compact tensor fit an allocation |
//! | `is_small` | whether that is certain from the shape alone |

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub use imp::*;
