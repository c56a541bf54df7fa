//! Changes of a name's function. With several threads or cores, a reader may have loaded a function without having
//! retained it yet, and writers keep the function until then; on one core, readers do both in a critical section.

#[cfg_attr(any(feature = "std", feature = "spin", not(target_os = "none")), path = "atomic.rs")]
#[cfg_attr(not(any(feature = "std", feature = "spin", not(target_os = "none"))), path = "masked.rs")]
mod imp;

#[cfg(feature = "std")]
pub(crate) use imp::RETIRED;
pub(super) use imp::*;
