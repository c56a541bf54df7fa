//! The writer: JSON text of a value, with a stack in a buffer instead of recursion.
//!
//! Both files have `stringify` and `write`. The fast one reads containers in place and prefetches, the small one reads
//! entries by index. Both find cycles by searching the stack for a list, ever more rarely as it gets deeper.

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
