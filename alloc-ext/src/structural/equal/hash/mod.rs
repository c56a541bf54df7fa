//! The walk that computes the structural hash of a value.
//!
//! | part | content |
//! |---|---|
//! | `walk` | the walk and its state |
//! | `node` | nodes of the walk: an object to hash |
//! | `sequence`, `entries`, `object` | frames: they hash leaves and yield the next child |

mod entries;
mod node;
mod object;
mod sequence;
mod walk;

pub(super) use walk::Hasher;
