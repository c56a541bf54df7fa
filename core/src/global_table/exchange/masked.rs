//! Changes of the function of a name, where readers look and retain in one critical section: nothing waits.
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

/// Makes a name stand for a function, unless it stands for one and `may_replace` is false. Tells whether it stands for this
/// function now, or for one of the same callback.
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

/// Makes a name stand for nothing. Tells whether it stood for a function.
///
/// # Errors
/// None.
pub(in crate::global_table) fn clear(slot: &'static GlobalEntry) -> Result<bool> {
    slot.texts.replace(Texts::Nothing);
    Ok(slot.function.replace(None).is_some())
}
