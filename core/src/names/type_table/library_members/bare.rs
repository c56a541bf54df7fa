//! Members that the library itself adds to types: none on bare metal, which has no provider.

use crate::abi::TVMFFIByteArray;

use super::super::attr_column::AttrColumn;

pub(in crate::names::type_table) const fn is_providing() -> bool {
    false
}

pub(in crate::names::type_table) struct LibraryCount;

impl LibraryCount {
    pub(in crate::names::type_table) const fn new(_count: u8) -> Self {
        LibraryCount
    }

    pub(in crate::names::type_table) const fn add(&self, _index: usize) {}
}

pub(in crate::names::type_table) struct LibraryTypes;

impl LibraryTypes {
    pub(in crate::names::type_table) const fn none() -> Self {
        LibraryTypes
    }

    pub(in crate::names::type_table) const fn add(&self, _type_index: i32) {}
}

/// Returns `false`: the library adds no fields.
///
/// # Safety
/// No requirements: the name is not read in this build.
pub(in crate::names::type_table) const unsafe fn has_field(
    _type_index: i32,
    _name: &TVMFFIByteArray,
) -> bool {
    false
}

/// Returns `false`: the library adds no methods.
///
/// # Safety
/// No requirements: the name is not read in this build.
pub(in crate::names::type_table) const unsafe fn has_method(
    _type_index: i32,
    _name: &TVMFFIByteArray,
) -> bool {
    false
}

pub(in crate::names::type_table) const fn has_attr(_type_index: i32, _column: &AttrColumn) -> bool {
    false
}
