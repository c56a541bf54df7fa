//! Check that a tensor of a shape and data type has a possible size in bytes: by a fast test first, or by computing the
//! size.
//!
//! | item | meaning |
//! |---|---|
//! | `has_possible_size` | whether a compact tensor with packed elements fits an allocation |
//! | `is_small` | whether that is certain from the shape alone |

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub use imp::*;
