//! Unstable in-place sorting: the standard library's sort in speed-optimised builds, a comb sort in
//! size-optimised builds.
//!
//! Both files define one function, `sort(values: &mut [T])`.
#![forbid(unsafe_code)]

#[cfg(feature = "speed")]
mod fast;
#[cfg(any(not(feature = "speed"), test))]
mod small;

#[cfg(feature = "speed")]
pub use fast::sort;
#[cfg(not(feature = "speed"))]
pub use small::sort;
