//! No index of fields by their names: types of boards have few.

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFITypeInfo};

use super::arena::Arena;
use super::entry::TypeEntry;

/// No index.
pub(super) struct FieldNames;

impl FieldNames {
    pub(super) const fn new() -> FieldNames {
        FieldNames
    }
}

/// Does nothing.
#[inline(always)]
pub(super) fn add_last(_: &TypeEntry, _: &Arena) {}

/// Returns None: there is no index.
///
/// # Safety
/// Any arguments will do.
#[inline(always)]
pub(super) unsafe fn look_up(
    _: *const TVMFFITypeInfo,
    _: &[TVMFFIFieldInfo],
    _: &TVMFFIByteArray,
) -> Option<bool> {
    None
}
