//! The walk that compares two values structurally.
//!
//! | part | content |
//! |---|---|
//! | `walk` | the walk and its state |
//! | `pair` | nodes of the walk: two objects to compare |
//! | `sequence`, `entries`, `object` | frames: they yield the next child, and the path step to the first difference |

mod entries;
mod object;
mod pair;
mod sequence;
mod walk;

pub(super) use walk::Comparer;
