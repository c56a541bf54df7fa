//! Registration and removal of functions on a single core. Readers load and retain a function in
//! one critical section, so no function has to be retired.
#![forbid(unsafe_code)]

use super::super::GlobalEntry;
use super::super::texts::FunctionDocs;
use crate::call::function::Function;
use crate::error::Result;

/// Registers a function under a name. Does not replace a function that is not a default if
/// `may_replace` is false. Returns `true` if the entry then has this function, or one with the same
/// callback. A default is replaced by `in_place_of_default`, if given.
///
/// # Errors
/// None.
pub(in crate::names::global_table) fn set(
    slot: &'static GlobalEntry,
    function: &Function,
    in_place_of_default: Option<Function>,
    texts: FunctionDocs,
    may_replace: bool,
) -> Result<bool> {
    let set = |new, may_replace| {
        slot.function.set(new, may_replace, || {
            slot.texts.replace(texts);
        })
    };
    // An interrupt handler that registers the name after this line is not asked again.
    Ok(match in_place_of_default {
        Some(wrapping) if slot.texts.yields() => set(&wrapping, true),
        _ => set(function, may_replace || slot.texts.yields()),
    })
}

/// Removes the function registered under a name. Returns `true` if there was one.
///
/// # Errors
/// None.
pub(in crate::names::global_table) fn clear(slot: &'static GlobalEntry) -> Result<bool> {
    slot.texts.replace(FunctionDocs::Nothing);
    Ok(slot.function.replace(None).is_some())
}
