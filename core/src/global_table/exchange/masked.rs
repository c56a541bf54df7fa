//! Changes of a name's function where readers load and retain in one critical section, so no function has to be
//! retired.
#![forbid(unsafe_code)]

use super::super::GlobalEntry;
use super::super::texts::Texts;
use crate::error::Result;
use crate::function::Function;

/// No default: firmware has none.
#[derive(Default)]
pub(in crate::global_table) struct InPlaceOfDefault;

/// Does nothing.
///
/// # Errors
/// None.
#[inline]
pub(in crate::global_table) const fn in_place_of_default(
    _name: &[u8],
    _function: &Function,
) -> Result<InPlaceOfDefault> {
    Ok(InPlaceOfDefault)
}

/// Sets the function of a name, unless it has one and `may_replace` is false. Returns `true` if the name has this
/// function afterwards, or one with the same callback.
///
/// # Errors
/// None.
pub(in crate::global_table) fn set(
    slot: &'static GlobalEntry,
    function: &Function,
    _: InPlaceOfDefault,
    texts: Texts,
    may_replace: bool,
) -> Result<bool> {
    Ok(slot.function.set(function, may_replace, || {
        slot.texts.replace(texts);
    }))
}

/// Clears the function of a name. Returns `true` if it had one.
///
/// # Errors
/// None.
pub(in crate::global_table) fn clear(slot: &'static GlobalEntry) -> Result<bool> {
    slot.texts.replace(Texts::Nothing);
    Ok(slot.function.replace(None).is_some())
}
