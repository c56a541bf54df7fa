//! Entry points of structural equality and hash: `equal` and `hash`.
//!
//! Speed-optimised builds have one walk per operation over borrowed values (`fast.rs`).
//! Size-optimised builds have one walk for both operations (`small.rs`), which keeps the state of
//! visited objects in a Dict (`visited`).

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
