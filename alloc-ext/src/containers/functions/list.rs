//! `ffi.List*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

use crate::containers::{List, ListObject, key};

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    let list = ListObject::with_capacity(args.len())?;
    for arg in args {
        list.push(arg.to_owned()?)?;
    }
    Ok(list.into_any())
}

pub(super) fn get_item(list: ListObject, index: i64) -> Result<Any> {
    list.get(index)
}

pub(super) fn set_item(list: List, index: i64, value: Any) -> Result<()> {
    list.as_untyped().set(index, value)
}

pub(super) fn size(list: ListObject) -> i64 {
    list.len() as i64
}

/// Compares with a snapshot of each element, since a hook may change the list.
pub(super) fn contains(list: ListObject, value: Any) -> Result<bool> {
    let mut index = 0;
    while let Some(element) = list.element(index) {
        if key::equal(element.view(), value.view())? {
            return Ok(true);
        }
        index += 1;
    }
    Ok(false)
}

pub(super) fn append(list: List, value: Any) -> Result<()> {
    list.push(value)
}

pub(super) fn insert(list: List, index: i64, value: Any) -> Result<()> {
    list.as_untyped().insert(index, value)
}

pub(super) fn pop(list: List, index: i64) -> Result<Any> {
    list.as_untyped().remove(index)
}

pub(super) fn erase(list: List, index: i64) -> Result<()> {
    list.as_untyped().remove(index).map(drop)
}

pub(super) fn erase_range(list: List, start: i64, stop: i64) -> Result<()> {
    list.as_untyped().remove_range(start, stop)
}

pub(super) fn replace_slice(list: List, start: i64, stop: i64, replacement: List) -> Result<()> {
    list.as_untyped().replace_range(start, stop, replacement.as_untyped())
}

pub(super) fn reverse(list: List) {
    list.reverse();
}

pub(super) fn clear(list: List) {
    list.clear();
}

pub(super) fn reserve(list: List, capacity: i64) -> Result<()> {
    list.as_untyped().reserve(capacity)
}
