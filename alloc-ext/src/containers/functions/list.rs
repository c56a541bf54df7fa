//! `ffi.List*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

use crate::containers::{List, ListObject, key};

use super::lent::Lent;

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    ListObject::from_views(args).map(ListObject::into_any)
}

pub(super) fn get_item(list: Lent<ListObject>, index: i64) -> Result<Any> {
    list.get(index)
}

pub(super) fn set_item(list: Lent<List>, index: i64, value: Any) -> Result<()> {
    list.as_untyped().set(index, value)
}

pub(super) fn size(list: Lent<ListObject>) -> i64 {
    list.len() as i64
}

/// Compares with a snapshot of each element, since a hook may change the list.
pub(super) fn contains(list: Lent<ListObject>, value: Lent<Any>) -> Result<bool> {
    let mut index = 0;
    while let Some(element) = list.element(index) {
        if key::equal(element.view(), value.view())? {
            return Ok(true);
        }
        index += 1;
    }
    Ok(false)
}

pub(super) fn append(list: Lent<List>, value: Any) -> Result<()> {
    list.push(value)
}

pub(super) fn insert(list: Lent<List>, index: i64, value: Any) -> Result<()> {
    list.as_untyped().insert(index, value)
}

pub(super) fn pop(list: Lent<List>, index: i64) -> Result<Any> {
    list.as_untyped().remove(index)
}

pub(super) fn erase(list: Lent<List>, index: i64) -> Result<()> {
    list.as_untyped().remove(index).map(drop)
}

pub(super) fn erase_range(list: Lent<List>, start: i64, stop: i64) -> Result<()> {
    list.as_untyped().remove_range(start, stop)
}

pub(super) fn replace_slice(list: Lent<List>, start: i64, stop: i64, replacement: Lent<List>) -> Result<()> {
    list.as_untyped().replace_range(start, stop, replacement.as_untyped())
}

pub(super) fn reverse(list: Lent<List>) {
    list.reverse();
}

pub(super) fn clear(list: Lent<List>) {
    list.clear();
}

pub(super) fn reserve(list: Lent<List>, capacity: i64) -> Result<()> {
    list.as_untyped().reserve(capacity)
}
