//! Members that the library itself gives to types: none on boards, which have no provider.

use crate::abi::TVMFFIByteArray;

use super::attr_column::AttrColumn;

pub(super) const fn is_providing() -> bool {
    false
}

pub(super) struct OwnCount;

impl OwnCount {
    pub(super) const fn new(_count: u8) -> Self {
        OwnCount
    }

    pub(super) const fn add(&self, _index: usize) {}
}

pub(super) struct OwnTypes;

impl OwnTypes {
    pub(super) const fn none() -> Self {
        OwnTypes
    }

    pub(super) const fn add(&self, _type_index: i32) {}
}

/// # Safety
/// None needed here; its twin reads the name.
pub(super) const unsafe fn has_field(_type_index: i32, _name: &TVMFFIByteArray) -> bool {
    false
}

/// # Safety
/// None needed here; its twin reads the name.
pub(super) const unsafe fn has_method(_type_index: i32, _name: &TVMFFIByteArray) -> bool {
    false
}

pub(super) const fn has_attr(_type_index: i32, _column: &AttrColumn) -> bool {
    false
}
