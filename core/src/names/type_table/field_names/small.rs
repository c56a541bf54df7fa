//! No index of fields by name: types have few fields in size-optimised builds, and a linear search
//! suffices.

use crate::abi::{TVMFFIByteArray, TVMFFIFieldInfo, TVMFFITypeInfo};

use super::super::arena::Arena;
use super::super::entry::TypeEntry;

/// Empty substitute for the index of field names.
pub(in crate::names::type_table) struct FieldNames;

impl FieldNames {
    pub(in crate::names::type_table) const fn new() -> FieldNames {
        FieldNames
    }
}

/// Does nothing: types have no index.
#[inline(always)]
pub(in crate::names::type_table) fn add_last(_: &TypeEntry, _: &Arena) {}

/// Returns `None`: types have no index.
///
/// # Safety
/// No requirements: the arguments are not used.
#[inline(always)]
pub(in crate::names::type_table) unsafe fn look_up(
    _: *const TVMFFITypeInfo,
    _: &[TVMFFIFieldInfo],
    _: &TVMFFIByteArray,
) -> Option<bool> {
    None
}
