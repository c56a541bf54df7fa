//! Entry points of structural equality and hash: `equal` and `hash`.
//!
//! Fast builds have a walk for each operation over borrowed values (`fast.rs`). Small builds have one walk for both
//! (`small.rs`), with the state of visited objects in a Dict (`visited`).

#[cfg(feature = "speed")]
mod fast;
#[cfg(any(test, not(feature = "speed")))]
pub(super) mod small;
#[cfg(any(test, not(feature = "speed")))]
mod visited;

#[cfg(feature = "speed")]
pub(super) use fast::{equal, hash};
#[cfg(not(feature = "speed"))]
pub(super) use small::{equal, hash};
