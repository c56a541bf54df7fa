//! `ffi.Map*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::ensure;
use ferrite_core::error::Result;
use ferrite_core::ffi_functions::invalid_object;
use ferrite_core::function::Function;

use crate::containers::MapObject;

use super::iteration;

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    check_pairs(args)?;
    let mut map = MapObject::with_capacity(0)?;
    for pair in args.chunks_exact(2) {
        map.insert(pair[0].to_owned()?, pair[1].to_owned()?)?;
    }
    Ok(map.into_any())
}

/// Keys and values alternate, so there must be as many of one as of the other.
pub(super) fn check_pairs(args: &[AnyView<'_>]) -> Result<()> {
    ensure!(args.len().is_multiple_of(2), INTERNAL_ERROR, "Check failed: args.size() % 2 == 0 (1 vs. 0) : ");
    Ok(())
}

pub(super) fn size(map: MapObject) -> i64 {
    map.len() as i64
}

pub(super) fn get_item(map: MapObject, key: Any) -> Result<Any> {
    map.at(key.view()).cloned()
}

pub(super) fn count(map: MapObject, key: Any) -> Result<i64> {
    map.contains(key.view()).map(i64::from)
}

pub(super) fn forward_iter_functor(map: MapObject) -> Result<Function> {
    iteration::functor(map)
}

pub(super) fn get_item_or_missing(map: MapObject, key: Any) -> Result<Any> {
    match map.get(key.view())? {
        Some(value) => Ok(value.clone()),
        None => Ok(invalid_object().into_any()),
    }
}
