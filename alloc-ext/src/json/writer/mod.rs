//! The writer: JSON text of a value, with a stack in a buffer instead of recursion.
//!
//! Both files have `stringify` and `write`. The fast one reads containers in place, prefetches, and finds cycles by a hash table
//! of the lists on the current path; the small one reads entries by index and searches its stack, ever more rarely.

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
