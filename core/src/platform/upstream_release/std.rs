//! Compatibility with earlier releases of upstream where a later release changed behaviour
//! incompatibly.
//!
//! Upstream's Python package and its library are released together, and this library follows the
//! latest release. A process with an earlier package selects its release before it uses types, and
//! the library then behaves like that release:
//!
//! | Until | Behaviour |
//! |---|---|
//! | 0.1.10 | a type may have several fields of one name, and may shadow an ancestor's field without a warning |
//! | 0.1.10 | copies are methods of the library's classes, too |
//! | 0.1.10 only | `ffi.GetFieldGetter`, `ffi.MakeFFINew`, `ffi.MakeInit` and `ffi.RegisterAutoInit` |
//! | 0.1.12 | the fields of `ffi.Enum` are `_value` and `_name`; the attributes of enums have columns of their own |
//! | 0.1.13 | structural visits of maps include the keys |
//! | 0.1.14 | a function's type schema lists result and parameters as `args` |
//!
//! All release-dependent code calls the predicates of this module. Builds without `std` support
//! only the latest release.

use core::sync::atomic::{AtomicU32, Ordering};

/// A release of upstream, without a post-release number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct UpstreamRelease(u32);

impl UpstreamRelease {
    /// Creates the release `major.minor.patch`.
    pub const fn new(major: u8, minor: u8, patch: u8) -> UpstreamRelease {
        UpstreamRelease(u32::from_be_bytes([0, major, minor, patch]))
    }
}

/// The default: a number later than every release.
const LAST: u32 = u32::MAX;

static SERVED: AtomicU32 = AtomicU32::new(LAST);

/// Selects the release that the library is compatible with, for the whole process.
///
/// # Threads
/// One atomic store. Types that are already registered keep the fields and methods of the
/// previously selected release.
pub fn serve(release: UpstreamRelease) {
    SERVED.store(release.0, Ordering::Relaxed);
}

/// Returns the selected release. The default compares greater than every release.
#[inline]
pub fn served() -> UpstreamRelease {
    UpstreamRelease(SERVED.load(Ordering::Relaxed))
}

/// Returns `true` if a type may have several fields with the same name, and fields with the name of
/// an ancestor's field.
pub fn fields_may_repeat() -> bool {
    served() < UpstreamRelease::new(0, 1, 11)
}

/// Returns `true` if copy functions of the library's classes are registered as methods, in addition
/// to type attributes.
pub fn copies_are_methods() -> bool {
    served() < UpstreamRelease::new(0, 1, 11)
}

/// Returns `true` if objects of `ffi.Enum` have the fields `_value` and `_name`.
pub fn enums_have_values() -> bool {
    served() < UpstreamRelease::new(0, 1, 13)
}

/// Returns the name of the field of `ffi.Enum` that stores an enum's name.
pub fn name_of_enums() -> &'static [u8] {
    if enums_have_values() { b"_name" } else { b"_str_index" }
}

/// Returns `true` if structural visits of maps include the keys.
#[inline]
pub fn visits_include_keys() -> bool {
    served() < UpstreamRelease::new(0, 1, 14)
}

/// Returns `true` if the type schema of a function lists its result and parameter types as `args`,
/// the result first.
pub fn schemas_have_args() -> bool {
    served() < UpstreamRelease::new(0, 1, 15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_by_number() {
        assert!(UpstreamRelease::new(0, 1, 9) < UpstreamRelease::new(0, 1, 10));
        assert!(UpstreamRelease::new(0, 1, 99) < UpstreamRelease::new(0, 2, 0));
        assert!(UpstreamRelease::new(255, 255, 255) < served());
    }
}
