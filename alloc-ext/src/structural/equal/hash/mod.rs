//! The walk that hashes a value.
//!
//! | part | content |
//! |---|---|
//! | `walk` | the walk and its state |
//! | `node` | nodes of the walk |
//! | `sequence`, `entries`, `object` | frames |

mod entries;
mod node;
mod object;
mod sequence;
mod walk;

pub(super) use walk::Hasher;
