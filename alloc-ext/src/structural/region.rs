//! Definition regions: whether variables that a structural walk reaches are defined or used.
#![forbid(unsafe_code)]

use ferrite_core::abi::{
    TVMFFIDefRegionKind, kTVMFFIDefRegionKindNone, kTVMFFIDefRegionKindPattern, kTVMFFIDefRegionKindSimple,
    kTVMFFIFieldFlagBitMaskSEqHashDefPattern, kTVMFFIFieldFlagBitMaskSEqHashDefSimple,
};

use super::StructuralKind;

/// Definition region of a position in a walk. Numbers other than the constants, which hooks may pass, define variables.
///
/// # Upstream
/// `TVMFFIDefRegionKind` in `c_api.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct DefRegion(TVMFFIDefRegionKind);

impl DefRegion {
    /// Variables are used.
    pub const NONE: Self = Self(kTVMFFIDefRegionKindNone);
    /// A variable is defined, and so are the variables in its fields.
    pub const PATTERN: Self = Self(kTVMFFIDefRegionKindPattern);
    /// A variable is defined; the variables in its fields are used.
    pub const SIMPLE: Self = Self(kTVMFFIDefRegionKindSimple);

    /// Creates the region with a number.
    pub const fn from_raw(kind: TVMFFIDefRegionKind) -> Self {
        Self(kind)
    }

    /// Returns the number of the region.
    pub const fn as_raw(self) -> TVMFFIDefRegionKind {
        self.0
    }

    /// Returns the region that the flags of a field request, if any.
    pub const fn of_field(flags: i64) -> Option<Self> {
        if flags & kTVMFFIFieldFlagBitMaskSEqHashDefSimple as i64 != 0 {
            Some(Self::SIMPLE)
        } else if flags & kTVMFFIFieldFlagBitMaskSEqHashDefPattern as i64 != 0 {
            Some(Self::PATTERN)
        } else {
            None
        }
    }

    /// Returns the region for a request of `inner` inside this one: a pattern extends to everything inside it.
    pub fn enter(self, inner: Self) -> Self {
        if self == Self::PATTERN { self } else { inner }
    }

    /// Returns the region of the fields of a variable in this region.
    pub fn inside_variable(self) -> Self {
        if self == Self::SIMPLE { Self::NONE } else { self }
    }

    /// Returns the region of a field with these flags, given the region of all fields.
    pub fn in_field(self, flags: i64) -> Self {
        Self::of_field(flags).map_or(self, |inner| self.enter(inner))
    }

    /// Returns the region of the fields of an object of a kind in this region.
    pub fn in_object(self, kind: StructuralKind) -> Self {
        if kind == StructuralKind::FreeVar { self.inside_variable() } else { self }
    }

    /// Returns the region of a value for which a hook requests one by number; 0 means no change.
    pub(super) fn in_callback(self, kind: TVMFFIDefRegionKind) -> Self {
        let inner = Self::from_raw(kind);
        if inner == Self::NONE { self } else { self.enter(inner) }
    }

    /// Returns `true` if variables in this region are defined.
    pub fn defines(self) -> bool {
        self != Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_reach_everything_inside() {
        assert_eq!(DefRegion::PATTERN.enter(DefRegion::SIMPLE), DefRegion::PATTERN);
        assert_eq!(DefRegion::PATTERN.enter(DefRegion::NONE), DefRegion::PATTERN);
        assert_eq!(DefRegion::SIMPLE.enter(DefRegion::PATTERN), DefRegion::PATTERN);
        assert_eq!(DefRegion::PATTERN.inside_variable(), DefRegion::PATTERN);
        assert_eq!(DefRegion::SIMPLE.inside_variable(), DefRegion::NONE);
    }

    #[test]
    fn simple_definitions_win_over_patterns() {
        let (simple, pattern) =
            (kTVMFFIFieldFlagBitMaskSEqHashDefSimple, kTVMFFIFieldFlagBitMaskSEqHashDefPattern);
        assert_eq!(DefRegion::of_field(i64::from(simple | pattern)), Some(DefRegion::SIMPLE));
        assert_eq!(DefRegion::of_field(i64::from(pattern)), Some(DefRegion::PATTERN));
        assert_eq!(DefRegion::of_field(1), None);
    }
}
