//! The walk that hashes a value.
//!
//! | part | holds |
//! |---|---|
//! | `walk` | the walk itself |
//! | `node` | what it gets to |
//! | `sequence`, `entries`, `object` | what is open in it |

mod entries;
mod node;
mod object;
mod sequence;
mod walk;

pub(super) use walk::Hasher;
