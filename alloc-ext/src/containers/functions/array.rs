//! `ffi.Array*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;

use crate::containers::{ArrayObject, key};

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    let mut array = ArrayObject::with_capacity(args.len())?;
    for arg in args {
        array.push(arg.to_owned()?)?;
    }
    Ok(array.into_any())
}

pub(super) fn get_item(array: ArrayObject, index: i64) -> Result<Any> {
    array.get(index).cloned()
}

pub(super) fn size(array: ArrayObject) -> i64 {
    array.len() as i64
}

pub(super) fn contains(array: ArrayObject, value: Any) -> Result<bool> {
    for element in array.as_slice() {
        if key::equal(element.view(), value.view())? {
            return Ok(true);
        }
    }
    Ok(false)
}
