//! Check that a tensor of a given shape and data type fits an allocation. The fast implementation
//! first tests the extents; the small one always computes the size.
//!
//! | item | meaning |
//! |---|---|
//! | `has_possible_size` | whether a compact tensor with packed elements fits an allocation |
//! | `is_small` | whether the shape alone shows that the tensor fits |

#[cfg_attr(feature = "speed", path = "fast.rs")]
#[cfg_attr(not(feature = "speed"), path = "small.rs")]
mod imp;

pub use imp::*;
