//! Definition regions: whether a variable at some position in a value is defined or used there.
#![forbid(unsafe_code)]

use ferrite_core::abi::{
    TVMFFIDefRegionKind, kTVMFFIDefRegionKindNone, kTVMFFIDefRegionKindPattern,
    kTVMFFIDefRegionKindSimple, kTVMFFIFieldFlagBitMaskSEqHashDefPattern,
    kTVMFFIFieldFlagBitMaskSEqHashDefSimple,
};

use super::StructuralKind;

/// Definition region of a position in a value. Hooks may pass values other than the constants;
/// these also define variables.
///
/// # Examples
/// ```
/// use ferrite_alloc_ext::structural::DefRegion;
///
/// assert!(DefRegion::SIMPLE.defines() && !DefRegion::NONE.defines());
/// // A pattern extends to everything inside it.
/// assert_eq!(DefRegion::PATTERN.enter(DefRegion::SIMPLE), DefRegion::PATTERN);
/// ```
///
/// # Upstream
/// `TVMFFIDefRegionKind` in `c_api.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct DefRegion(TVMFFIDefRegionKind);

impl DefRegion {
    /// Variables are used, not defined.
    pub const NONE: Self = Self(kTVMFFIDefRegionKindNone);
    /// A variable is defined here, and so are the variables in its fields.
    pub const PATTERN: Self = Self(kTVMFFIDefRegionKindPattern);
    /// A variable is defined here; the variables in its fields are used.
    pub const SIMPLE: Self = Self(kTVMFFIDefRegionKindSimple);

    /// Creates a region from its C value. Accepts any value.
    pub const fn from_raw(kind: TVMFFIDefRegionKind) -> Self {
        Self(kind)
    }

    /// Returns the region as a C value.
    pub const fn as_raw(self) -> TVMFFIDefRegionKind {
        self.0
    }

    /// Returns the region that the flags of a field request; `None` if they request none.
    pub const fn of_field(flags: i64) -> Option<Self> {
        if flags & kTVMFFIFieldFlagBitMaskSEqHashDefSimple as i64 != 0 {
            Some(Self::SIMPLE)
        } else if flags & kTVMFFIFieldFlagBitMaskSEqHashDefPattern as i64 != 0 {
            Some(Self::PATTERN)
        } else {
            None
        }
    }

    /// Returns the region to use when `inner` is requested inside this one: `inner`, unless this
    /// one is a pattern, which extends to everything inside it.
    pub fn enter(self, inner: Self) -> Self {
        if self == Self::PATTERN { self } else { inner }
    }

    /// Returns the region for the fields of a variable in this region.
    pub fn inside_variable(self) -> Self {
        if self == Self::SIMPLE { Self::NONE } else { self }
    }

    /// Returns the region for a field with these flags of an object whose fields are in this
    /// region.
    pub fn in_field(self, flags: i64) -> Self {
        Self::of_field(flags).map_or(self, |inner| self.enter(inner))
    }

    /// Returns the region for the fields of an object of this kind in this region.
    pub fn in_object(self, kind: StructuralKind) -> Self {
        if kind == StructuralKind::FreeVar { self.inside_variable() } else { self }
    }

    /// Returns the region for a value that a hook passes to its callback with the C value of a
    /// region; 0 means no change.
    pub(super) fn in_callback(self, kind: TVMFFIDefRegionKind) -> Self {
        let inner = Self::from_raw(kind);
        if inner == Self::NONE { self } else { self.enter(inner) }
    }

    /// Returns `true` if this region defines its variables.
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
