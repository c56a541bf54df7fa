//! `ffi.Array*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

use crate::containers::{ArrayObject, key};

use super::lent::Lent;

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    ArrayObject::from_views(args).map(ArrayObject::into_any)
}

pub(super) fn get_item(array: Lent<ArrayObject>, index: i64) -> Result<Any> {
    array.get(index).cloned()
}

pub(super) fn size(array: Lent<ArrayObject>) -> i64 {
    array.len() as i64
}

pub(super) fn contains(array: Lent<ArrayObject>, value: Lent<Any>) -> Result<bool> {
    for element in array.as_slice() {
        if key::equal(element.view(), value.view())? {
            return Ok(true);
        }
    }
    Ok(false)
}
