//! The walk that compares two values structurally.
//!
//! | part | content |
//! |---|---|
//! | `walk` | the walk and its state |
//! | `pair` | nodes of the walk: two objects to compare |
//! | `sequence`, `entries`, `object` | frames: they yield the next child, and the path step to the first difference |
//! | `fast_paths` | fast path for Arrays of leaves, which creates no nodes and frames |

mod entries;
mod fast_paths;
mod object;
mod pair;
mod sequence;
mod walk;

pub(super) use walk::Comparer;
