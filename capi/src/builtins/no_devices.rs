//! Replacement for `devices` in builds without device back ends.

use ferrite_core::names::defaults::Group;

/// The functions that front ends of the legacy API look up in every build.
#[cfg(feature = "legacy")]
pub(super) const GROUPS: &[Group] = ferrite_legacy::globals::WITHOUT_BACK_ENDS;
#[cfg(not(feature = "legacy"))]
pub(super) const GROUPS: &[Group] = &[];

/// Does nothing: there are no back ends.
pub(super) fn install() {}
