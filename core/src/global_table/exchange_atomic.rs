//! Changes of what a name stands for, one at a time, beside readers that take no lock.

use super::Slot;
use super::retired::{Node, Retired};
use super::texts::Texts;
use crate::error::Result;
use crate::function::Function;
use crate::sync::Mutex;

/// Its lock admits one writer at a time.
static RETIRED: Mutex<Retired> = Mutex::new(Retired::new());

/// Changes what a name stands for, unless that is a function already and `may_replace` is false. Tells whether it was one.
///
/// # Errors
/// MemoryError, with nothing changed.
pub(super) fn exchange(
    slot: &'static Slot,
    function: Option<Function>,
    texts: Texts,
    may_replace: bool,
) -> Result<bool> {
    let node = Node::new()?;
    let mut retired = RETIRED.lock();
    let was_set = slot.function.is_set();
    if was_set && !may_replace {
        return Ok(true);
    }
    let leftovers = put(&mut retired, slot, function, texts, node);
    drop(retired);
    drop(leftovers);
    release_unreachable();
    Ok(was_set)
}

/// What a change leaves to be dropped without a lock.
struct Leftovers {
    _texts: Texts,
    _function: Option<Function>,
    _node: Option<Node>,
}

/// Puts a function in. One that a reader may still be about to retain goes on the list.
fn put(
    retired: &mut Retired,
    slot: &'static Slot,
    function: Option<Function>,
    texts: Texts,
    node: Node,
) -> Leftovers {
    let texts = slot.texts.replace(texts);
    match slot.function.replace(function) {
        Some(old) if !slot.function.is_quiet() => {
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
