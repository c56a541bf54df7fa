//! The walk that compares two values structurally.
//!
//! | part | content |
//! |---|---|
//! | `walk` | the walk and its state |
//! | `pair` | nodes of the walk: two objects to compare |
//! | `sequence`, `entries`, `object` | frames: they yield the next child, and the path step to the first difference |
//! | `fast_paths` | fast paths that avoid creating nodes and frames |

mod entries;
mod fast_paths;
mod object;
mod pair;
mod sequence;
mod walk;

pub(super) use walk::Comparer;
