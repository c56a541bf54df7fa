//! Compatibility with earlier releases of upstream, where a later one contradicts them.
//!
//! Upstream's Python package and its library are released together, and this library follows the last release. A
//! process with an earlier package selects that release before it uses types, and the library then behaves like it:
//!
//! | Until | Behaviour |
//! |---|---|
//! | 0.1.10 | a type may have several fields of one name, and may shadow an ancestor's field without a warning |
//! | 0.1.10 | copies are methods of the library's classes, too |
//! | 0.1.10, no other | `ffi.GetFieldGetter`, `ffi.MakeFFINew`, `ffi.MakeInit` and `ffi.RegisterAutoInit` |
//! | 0.1.12 | the fields of `ffi.Enum` are `_value` and `_name`; the attributes of enums have columns of their own |
//! | 0.1.13 | structural visits of maps include the keys |
//! | 0.1.14 | a function's type schema lists result and parameters as `args` |
//!
//! All release-dependent code asks a function of this module. Builds without `std` only know the last release.

use core::sync::atomic::{AtomicU32, Ordering};

/// A release of upstream, without its post-release number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct UpstreamRelease(u32);

impl UpstreamRelease {
    /// The release `major.minor.patch`.
    pub const fn new(major: u8, minor: u8, patch: u8) -> UpstreamRelease {
        UpstreamRelease(u32::from_be_bytes([0, major, minor, patch]))
    }
}

/// Later than every release: the default.
const LAST: u32 = u32::MAX;

static SERVED: AtomicU32 = AtomicU32::new(LAST);

/// Selects the release to be compatible with, for the whole process.
///
/// # Threads
/// One atomic store. Earlier registrations keep the form of the release that was selected then.
pub fn serve(release: UpstreamRelease) {
    SERVED.store(release.0, Ordering::Relaxed);
}

/// Returns the selected release; the default compares later than every other.
#[inline]
pub fn served() -> UpstreamRelease {
    UpstreamRelease(SERVED.load(Ordering::Relaxed))
}

/// Returns `true` if a type may have several fields of one name, including an ancestor's.
pub fn fields_may_repeat() -> bool {
    served() < UpstreamRelease::new(0, 1, 11)
}

/// Returns `true` if copies of the library's classes are methods, besides type attributes.
pub fn copies_are_methods() -> bool {
    served() < UpstreamRelease::new(0, 1, 11)
}

/// Returns `true` if objects of `ffi.Enum` have the fields `_value` and `_name`.
pub fn enums_have_values() -> bool {
    served() < UpstreamRelease::new(0, 1, 13)
}

/// Name of the field of `ffi.Enum` that stores an enum's name.
pub fn name_of_enums() -> &'static [u8] {
    if enums_have_values() { b"_name" } else { b"_str_index" }
}

/// Returns `true` if structural visits of maps include the keys.
#[inline]
pub fn visits_give_keys() -> bool {
    served() < UpstreamRelease::new(0, 1, 14)
}

/// Returns `true` if the type schema of a function lists its types as `args`, the result first.
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
