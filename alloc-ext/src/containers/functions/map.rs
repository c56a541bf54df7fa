//! `ffi.Map*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::ffi_functions::invalid_object;
use ferrite_core::function::Function;
use ferrite_core::plain_ensure;

use crate::containers::{MapObject, cell};

use super::iteration::{self, Walked};
use super::lent::Lent;

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    check_pairs(args)?;
    let mut map = MapObject::with_capacity(0)?;
    for pair in args.chunks_exact(2) {
        map.insert(cell::own(&pair[0])?, cell::own(&pair[1])?)?;
    }
    Ok(map.into_any())
}

/// Keys and values alternate, so there must be as many of one as of the other.
pub(super) fn check_pairs(args: &[AnyView<'_>]) -> Result<()> {
    plain_ensure!(
        args.len().is_multiple_of(2),
        INTERNAL_ERROR,
        "Check failed: args.size() % 2 == 0 (1 vs. 0) : "
    );
    Ok(())
}

pub(super) fn size(map: Lent<MapObject>) -> i64 {
    map.len() as i64
}

pub(super) fn get_item(map: Lent<MapObject>, key: Lent<Any>) -> Result<Any> {
    map.at(key.view()).cloned()
}

pub(super) fn count(map: Lent<MapObject>, key: Lent<Any>) -> Result<i64> {
    map.contains(key.view()).map(i64::from)
}

pub(super) fn forward_iter_functor(map: Lent<MapObject>) -> Result<Function> {
    iteration::functor(Walked::Map(MapObject::clone(&map)))
}

pub(super) fn get_item_or_missing(map: Lent<MapObject>, key: Lent<Any>) -> Result<Any> {
    match map.get(key.view())? {
        Some(value) => Ok(value.clone()),
        None => Ok(invalid_object().into_any()),
    }
}
