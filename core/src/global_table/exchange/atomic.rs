//! Changes of the function of a name, one at a time, beside readers that take no lock.

use super::super::GlobalEntry;
use super::super::retired::{Retired, RetiredNode};
use super::super::texts::Texts;
use crate::defaults;
use crate::error::Result;
use crate::function::Function;
use crate::sync::Mutex;

/// Its lock admits one writer at a time.
pub(crate) static RETIRED: Mutex<Retired> = Mutex::new(Retired::new());

/// The function that takes the place of a default; None for the one that is registered.
pub(in crate::global_table) type InPlaceOfDefault = Option<Function>;

/// Makes the function that takes the place of the default of that name, if there is one.
///
/// # Errors
/// MemoryError.
pub(in crate::global_table) fn in_place_of_default(
    name: &[u8],
    function: &Function,
) -> Result<InPlaceOfDefault> {
    defaults::wrapped(name, function)
}

/// Makes a name stand for a function, unless it stands for one that does not yield and `may_replace` is false. Tells whether it
/// stands for this function now, or for one of the same callback. What yields is replaced by `in_place_of_default`, if there is
/// one.
///
/// # Errors
/// MemoryError, with nothing changed.
pub(in crate::global_table) fn set(
    slot: &'static GlobalEntry,
    function: &Function,
    in_place_of_default: InPlaceOfDefault,
    texts: Texts,
    may_replace: bool,
) -> Result<bool> {
    let node = RetiredNode::new()?;
    let mut retired = RETIRED.lock();
    let yields = slot.function.is_set() && slot.texts.yields();
    if !may_replace && slot.function.is_set() && !yields {
        drop(retired);
        return Ok(slot.function.load().is_some_and(|present| present.same_callback(function)));
    }
    let new = match in_place_of_default {
        Some(wrapping) if yields => wrapping,
        _ => function.clone(),
    };
    let leftovers = put(&mut retired, slot, Some(new), texts, node);
    drop(retired);
    drop(leftovers);
    release_unreachable();
    Ok(true)
}

/// Makes a name stand for nothing. Tells whether it stood for a function.
///
/// # Errors
/// MemoryError, with nothing changed.
pub(in crate::global_table) fn clear(slot: &'static GlobalEntry) -> Result<bool> {
    let node = RetiredNode::new()?;
    let mut retired = RETIRED.lock();
    let was_set = slot.function.is_set();
    let leftovers = put(&mut retired, slot, None, Texts::Nothing, node);
    drop(retired);
    drop(leftovers);
    release_unreachable();
    Ok(was_set)
}

/// The references that a change leaves to be dropped without a lock.
struct Leftovers {
    _texts: Texts,
    _function: Option<Function>,
    _node: Option<RetiredNode>,
}

/// Puts a function in. One that a reader may still be about to retain goes on the list.
fn put(
    retired: &mut Retired,
    slot: &'static GlobalEntry,
    function: Option<Function>,
    texts: Texts,
    node: RetiredNode,
) -> Leftovers {
    let texts = slot.texts.replace(texts);
    match slot.function.replace(function) {
        Some(old) if !slot.function.is_quiescent() => {
            retired.push(node, slot, old);
            Leftovers { _texts: texts, _function: None, _node: None }
        }
        old => Leftovers { _texts: texts, _function: old, _node: Some(node) },
    }
}

/// Releases retired functions that no reader can reach, one at a time and without a lock: their deleters are
/// users' code.
fn release_unreachable() {
    while let Some(function) = take_unreachable() {
        drop(function);
    }
}

fn take_unreachable() -> Option<Function> {
    RETIRED.lock().take_unreachable()
}
