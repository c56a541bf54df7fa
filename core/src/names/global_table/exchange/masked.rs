//! Registration and removal of functions on a single core. Readers load and retain a function in
//! one critical section, so no function has to be retired.
#![forbid(unsafe_code)]

use super::super::GlobalEntry;
use super::super::texts::FunctionDocs;
use crate::call::function::Function;
use crate::error::Result;

/// The replacement of a default function; empty, because firmware has no default functions.
#[derive(Default)]
pub(in crate::names::global_table) struct InPlaceOfDefault;

/// Returns the empty replacement: firmware has no default functions.
///
/// # Errors
/// None.
#[inline]
pub(in crate::names::global_table) const fn in_place_of_default(
    _name: &[u8],
    _function: &Function,
) -> Result<InPlaceOfDefault> {
    Ok(InPlaceOfDefault)
}

/// Registers a function under a name. Does not replace a function if `may_replace` is false.
/// Returns `true` if the entry then has this function, or one with the same callback.
///
/// # Errors
/// None.
pub(in crate::names::global_table) fn set(
    slot: &'static GlobalEntry,
    function: &Function,
    _: InPlaceOfDefault,
    texts: FunctionDocs,
    may_replace: bool,
) -> Result<bool> {
    Ok(slot.function.set(function, may_replace, || {
        slot.texts.replace(texts);
    }))
}

/// Removes the function registered under a name. Returns `true` if there was one.
///
/// # Errors
/// None.
pub(in crate::names::global_table) fn clear(slot: &'static GlobalEntry) -> Result<bool> {
    slot.texts.replace(FunctionDocs::Nothing);
    Ok(slot.function.replace(None).is_some())
}
