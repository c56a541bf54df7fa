//! No index of fields by their names: in small builds, types have few.

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFITypeInfo};

use super::super::arena::Arena;
use super::super::entry::TypeEntry;

/// No index.
pub(in crate::type_table) struct FieldNames;

impl FieldNames {
    pub(in crate::type_table) const fn new() -> FieldNames {
        FieldNames
    }
}

/// Does nothing.
#[inline(always)]
pub(in crate::type_table) fn add_last(_: &TypeEntry, _: &Arena) {}

/// Returns None: there is no index.
///
/// # Safety
/// Any arguments will do.
#[inline(always)]
pub(in crate::type_table) unsafe fn look_up(
    _: *const TVMFFITypeInfo,
    _: &[TVMFFIFieldInfo],
    _: &TVMFFIByteArray,
) -> Option<bool> {
    None
}
