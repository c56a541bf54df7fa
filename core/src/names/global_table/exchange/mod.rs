//! Registration and removal of functions. With several threads or cores, a reader may have loaded a
//! function and not yet retained it, so writers keep a removed function alive until then. On a
//! single core, readers do both in one critical section.

#[cfg_attr(any(feature = "std", feature = "spin", not(target_os = "none")), path = "atomic.rs")]
#[cfg_attr(
    not(any(feature = "std", feature = "spin", not(target_os = "none"))),
    path = "masked.rs"
)]
mod imp;

#[cfg(feature = "std")]
pub(crate) use imp::RETIRED;
pub(super) use imp::*;
