//! `ffi.Dict*`.
#![forbid(unsafe_code)]

use ferrite_core::any::{Any, AnyView};
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::Result;
use ferrite_core::ffi_functions::invalid_object;
use ferrite_core::function::Function;

use crate::containers::{Dict, DictObject, cell};

use super::iteration::{self, Walked};
use super::lent::Lent;
use super::map;

pub(super) fn create(args: &[AnyView<'_>]) -> Result<Any> {
    map::check_pairs(args)?;
    let dict = DictObject::with_capacity(0)?;
    for pair in args.chunks_exact(2) {
        dict.insert(cell::own(&pair[0])?, cell::own(&pair[1])?)?;
    }
    Ok(dict.into_any())
}

pub(super) fn size(dict: Lent<DictObject>) -> i64 {
    dict.len() as i64
}

pub(super) fn get_item(dict: Lent<DictObject>, key: Lent<Any>) -> Result<Any> {
    dict.at(key.view())
}

pub(super) fn set_item(dict: Lent<Dict>, key: Any, value: Any) -> Result<()> {
    dict.insert(key, value)
}

pub(super) fn count(dict: Lent<DictObject>, key: Lent<Any>) -> Result<i64> {
    dict.contains(key.view()).map(i64::from)
}

pub(super) fn erase(dict: Lent<Dict>, key: Lent<Any>) -> Result<()> {
    dict.remove(&key).map(drop)
}

pub(super) fn clear(dict: Lent<Dict>) {
    dict.clear();
}

pub(super) fn forward_iter_functor(dict: Lent<DictObject>) -> Result<Function> {
    iteration::functor(Walked::Dict(DictObject::clone(&dict)))
}

pub(super) fn get_item_or_missing(dict: Lent<DictObject>, key: Lent<Any>) -> Result<Any> {
    Ok(dict.get(key.view())?.unwrap_or_else(|| invalid_object().into_any()))
}
