//! Iterator functions over the entries of a map, driven by one command per call.

use ferrite_core::any::Any;
use ferrite_core::convert::AnyCompatible;
use ferrite_core::error::{Error, Result};
use ferrite_core::function::Function;
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;
use ferrite_core::sync::atomic::{AtomicUsize, Ordering};

use crate::containers::table::Table;

const KEY: i64 = 0;
const VALUE: i64 = 1;

/// Position of the iterator: the slot of an entry, or the end.
struct Position(AtomicUsize);

impl Position {
    const END: usize = usize::MAX;

    fn new(place: Option<usize>) -> Self {
        Self(AtomicUsize::new(place.unwrap_or(Self::END)))
    }

    fn get(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|place| *place != Self::END)
    }

    fn set(&self, place: Option<usize>) {
        self.0.store(place.unwrap_or(Self::END), Ordering::Relaxed);
    }
}

/// Creates an iterator function at the first entry of a Map or Dict. Command 0 returns the key of the entry, command 1 its
/// value. Any other command advances, and returns whether there is another entry.
///
/// The function keeps the map alive and tolerates changes of it. Reading a removed entry raises IndexError.
///
/// # Errors
/// MemoryError.
///
/// # Safety
/// `map` must be a Map or a Dict.
pub(super) unsafe fn functor(map: ObjectRef) -> Result<Any> {
    // SAFETY: the caller guarantees the class; each call reads the table anew.
    let table = |map| unsafe { Table::of(map) };
    let position = Position::new(table(&map).first());
    let functor = Function::from_typed(move |command: i64| -> Result<Any> {
        // SAFETY: as above.
        let table = unsafe { Table::of(&map) };
        let here = position.get();
        if matches!(command, KEY | VALUE) {
            let entry = here.and_then(|here| table.entry_before_next(here)).ok_or_else(no_entry)?;
            // SAFETY: one thread at a time uses the table, and no user callback runs while a cell is copied.
            return Ok(unsafe { if command == KEY { entry.copy_key() } else { entry.copy_value() } });
        }
        let next = here.and_then(|here| table.next(here));
        position.set(next);
        Ok(Any::from(next.is_some()))
    })?;
    Ok(functor.into_any())
}

#[cold]
fn no_entry() -> Error {
    plain_error!(INDEX_ERROR, "The iteration stands at no entry")
}
