//! Changes of the function that a name stands for. With several threads or cores, readers may be between seeing and retaining a
//! function, and writers keep it until they are done; on one core, readers do both in a critical section.

#[cfg_attr(any(feature = "std", feature = "spin", not(target_os = "none")), path = "atomic.rs")]
#[cfg_attr(not(any(feature = "std", feature = "spin", not(target_os = "none"))), path = "masked.rs")]
mod imp;

#[cfg(feature = "std")]
pub(crate) use imp::RETIRED;
pub(super) use imp::*;
