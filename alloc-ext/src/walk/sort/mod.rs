//! In-place sorting of values whose equal elements are identical: the standard library's sort in fast builds, a comb sort
//! in small ones.
//!
//! The interface is one function, `sort(values: &mut [T])`.
#![forbid(unsafe_code)]

#[cfg(feature = "speed")]
mod fast;
#[cfg(any(not(feature = "speed"), test))]
mod small;

#[cfg(feature = "speed")]
pub use fast::sort;
#[cfg(not(feature = "speed"))]
pub use small::sort;
