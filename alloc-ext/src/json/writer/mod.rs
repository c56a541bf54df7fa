//! JSON writer, with an explicit stack instead of recursion.
//!
//! Both files implement `stringify` and `write`. `fast.rs` reads containers in place, prefetches,
//! and detects cycles with a hash index of the lists on the current path; `small.rs` reads entries
//! by slot, and searches its stack for the list being entered at depths that double with each
//! search.

#[cfg(feature = "speed")]
mod active_lists;
#[cfg(feature = "speed")]
mod fast;
#[cfg(any(test, not(feature = "speed")))]
pub(super) mod small;

#[cfg(feature = "speed")]
pub use fast::stringify;
#[cfg(feature = "speed")]
pub(crate) use fast::write;
#[cfg(not(feature = "speed"))]
pub use small::stringify;
#[cfg(not(feature = "speed"))]
pub(crate) use small::write;
