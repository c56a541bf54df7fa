//! Registration and removal of functions, serialised by a lock, concurrent with lock-free readers.

use super::super::GlobalEntry;
use super::super::retired::{Retired, RetiredNode};
use super::super::texts::FunctionDocs;
use crate::call::function::Function;
use crate::error::Result;
use crate::platform::sync::Mutex;

/// The list of retired functions. Its lock also serialises writers.
pub(crate) static RETIRED: Mutex<Retired> = Mutex::new(Retired::new());

/// Registers a function under a name. Does not replace a function that is not a default if
/// `may_replace` is false. Returns `true` if the entry then has this function, or one with the same
/// callback. A default is replaced by `in_place_of_default`, if given.
///
/// # Errors
/// MemoryError. The entry is then unchanged.
pub(in crate::names::global_table) fn set(
    slot: &'static GlobalEntry,
    function: &Function,
    in_place_of_default: Option<Function>,
    texts: FunctionDocs,
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

/// Removes the function registered under a name. Returns `true` if there was one.
///
/// # Errors
/// MemoryError. The entry is then unchanged.
pub(in crate::names::global_table) fn clear(slot: &'static GlobalEntry) -> Result<bool> {
    let node = RetiredNode::new()?;
    let mut retired = RETIRED.lock();
    let was_set = slot.function.is_set();
    let leftovers = put(&mut retired, slot, None, FunctionDocs::Nothing, node);
    drop(retired);
    drop(leftovers);
    release_unreachable();
    Ok(was_set)
}

/// Values displaced by a change and an unused list node, dropped after the lock is released.
struct Leftovers {
    _texts: FunctionDocs,
    _function: Option<Function>,
    _node: Option<RetiredNode>,
}

/// Replaces the function and the strings of an entry. If a reader may still be about to retain the
/// previous function, adds it to the retired list.
fn put(
    retired: &mut Retired,
    slot: &'static GlobalEntry,
    function: Option<Function>,
    texts: FunctionDocs,
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

/// Releases retired functions that no reader can reach, one at a time and without holding the lock,
/// because their deleters are user callbacks.
fn release_unreachable() {
    while let Some(function) = take_unreachable() {
        drop(function);
    }
}

fn take_unreachable() -> Option<Function> {
    RETIRED.lock().take_unreachable()
}
