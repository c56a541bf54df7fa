//! The walk that compares two values.
//!
//! | part | content |
//! |---|---|
//! | `walk` | the walk and its state |
//! | `pair` | nodes of the walk |
//! | `sequence`, `entries`, `object` | frames: the next child, and the path to the first difference |
//! | `fast_paths` | fast paths that skip nodes and frames |

mod entries;
mod fast_paths;
mod object;
mod pair;
mod sequence;
mod walk;

pub(super) use walk::Comparer;
