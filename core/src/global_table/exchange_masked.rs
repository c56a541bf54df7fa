//! Changes of what a name stands for where readers retain in one step with seeing: nothing waits.
#![forbid(unsafe_code)]

use super::Slot;
use super::texts::Texts;
use crate::error::Result;
use crate::function::Function;

/// Changes what a name stands for, unless that is a function already and `may_replace` is false. Tells whether it was one.
///
/// # Errors
/// None.
pub(super) fn exchange(
    slot: &'static Slot,
    mut function: Option<Function>,
    texts: Texts,
    may_replace: bool,
) -> Result<bool> {
    let was_set = slot.function.exchange(&mut function, may_replace);
    if !was_set || may_replace {
        slot.texts.replace(texts);
    }
    Ok(was_set)
}
