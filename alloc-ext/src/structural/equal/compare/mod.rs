//! The walk that compares two values.
//!
//! | part | holds |
//! |---|---|
//! | `walk` | the walk itself |
//! | `pair` | what it gets to |
//! | `sequence`, `entries`, `object` | what is open in it: what comes next there, and where the first difference is |
//! | `short_ways` | ways past nodes and frames, where speed counts more than size |

mod entries;
mod object;
mod pair;
mod sequence;
#[cfg_attr(not(feature = "speed"), path = "no_short_ways.rs")]
mod short_ways;
mod walk;

pub(super) use walk::Comparer;
