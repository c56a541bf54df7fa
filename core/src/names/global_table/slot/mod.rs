//! The function slot of a table entry, which readers load and retain while writers replace its
//! function.

#[cfg_attr(any(feature = "std", feature = "spin", not(target_os = "none")), path = "atomic.rs")]
#[cfg_attr(
    not(any(feature = "std", feature = "spin", not(target_os = "none"))),
    path = "masked.rs"
)]
mod imp;
// The implementation without compare-and-swap is compiled for its tests, so that one test run
// covers both.
#[cfg(all(test, target_has_atomic = "ptr"))]
pub(super) mod masked;

pub(super) use imp::*;
