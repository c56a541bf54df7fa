//! Regions of definitions: whether a walk by structure is where variables are bound.
#![forbid(unsafe_code)]

use ferrite_core::abi::{
    TVMFFIDefRegionKind, kTVMFFIDefRegionKindNone, kTVMFFIDefRegionKindPattern, kTVMFFIDefRegionKindSimple,
    kTVMFFIFieldFlagBitMaskSEqHashDefPattern, kTVMFFIFieldFlagBitMaskSEqHashDefSimple,
};

use super::StructuralKind;

/// What a variable means where a walk is. Numbers that are none of the constants, which hooks may pass, define too.
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

    /// The region with this number.
    pub const fn from_raw(kind: TVMFFIDefRegionKind) -> Self {
        Self(kind)
    }

    /// The number of the region.
    pub const fn as_raw(self) -> TVMFFIDefRegionKind {
        self.0
    }

    /// The region that a field with these flags asks for, if any.
    pub const fn of_field(flags: i64) -> Option<Self> {
        if flags & kTVMFFIFieldFlagBitMaskSEqHashDefSimple as i64 != 0 {
            Some(Self::SIMPLE)
        } else if flags & kTVMFFIFieldFlagBitMaskSEqHashDefPattern as i64 != 0 {
            Some(Self::PATTERN)
        } else {
            None
        }
    }

    /// The region inside this one where `inner` is asked for: a pattern reaches everything in it.
    pub fn enter(self, inner: Self) -> Self {
        if self == Self::PATTERN { self } else { inner }
    }

    /// The region of the fields of a variable that is met here.
    pub fn inside_variable(self) -> Self {
        if self == Self::SIMPLE { Self::NONE } else { self }
    }

    /// The region of a field with these flags of an object whose fields are in this one.
    pub fn in_field(self, flags: i64) -> Self {
        Self::of_field(flags).map_or(self, |inner| self.enter(inner))
    }

    /// The region of the fields of an object of this kind.
    pub fn in_object(self, kind: StructuralKind) -> Self {
        if kind == StructuralKind::FreeVar { self.inside_variable() } else { self }
    }

    /// The region of a value for which a hook asks for one by number, 0 for no change.
    pub(super) fn in_callback(self, kind: TVMFFIDefRegionKind) -> Self {
        let inner = Self::from_raw(kind);
        if inner == Self::NONE { self } else { self.enter(inner) }
    }

    /// Whether variables that are met here are defined.
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
