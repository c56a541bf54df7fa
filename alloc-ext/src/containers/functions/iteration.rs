//! Iterator functions over the entries of a map, driven by one command per call.

use ferrite_core::abi::type_index;
use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::object::borrow::BriefShared;
use ferrite_core::plain_error;
use ferrite_core::platform::sync::atomic::{AtomicUsize, Ordering};
use ferrite_core::value::any::Any;
use ferrite_core::value::convert::AnyCompatible;

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

/// Creates an iterator function at the first entry of a Map or Dict. Command 0 returns the key of
/// the entry, command 1 its value. Any other command advances, and returns whether there is another
/// entry.
///
/// The function keeps the map alive and tolerates changes of it. Reading a removed entry raises
/// IndexError, and each call raises RuntimeError while another thread is changing a Dict.
///
/// # Errors
/// RuntimeError if another thread is changing a Dict; MemoryError.
///
/// # Safety
/// `map` must be a Map or a Dict.
pub(super) unsafe fn functor(map: ObjectRef) -> Result<Any> {
    let is_dict = map.type_index() == type_index::DICT;
    // SAFETY: guaranteed by the caller. In small builds, Maps are borrowed, too.
    unsafe {
        if is_dict || !cfg!(feature = "speed") {
            functor_of::<true>(map)
        } else {
            functor_of::<false>(map)
        }
    }
}

/// [`functor`] for a Dict, which is borrowed in each call, or for a Map.
///
/// # Safety
/// `map` must be a Map, or `IS_BORROWED` and a Dict.
unsafe fn functor_of<const IS_BORROWED: bool>(map: ObjectRef) -> Result<Any> {
    let first = {
        let _borrow = read::<IS_BORROWED>(&map)?;
        // SAFETY: the caller guarantees the class; a Dict is borrowed.
        unsafe { Table::of(&map) }.first()
    };
    let position = Position::new(first);
    let functor = Function::from_typed(move |command: i64| -> Result<Any> {
        let _borrow = read::<IS_BORROWED>(&map)?;
        // SAFETY: as above. Each call reads the table anew.
        let table = unsafe { Table::of(&map) };
        let here = position.get();
        if matches!(command, KEY | VALUE) {
            let entry = here.and_then(|here| table.entry_before_next(here)).ok_or_else(no_entry)?;
            // SAFETY: the borrow excludes writers.
            return Ok(unsafe {
                if command == KEY { entry.copy_key() } else { entry.copy_value() }
            });
        }
        let next = here.and_then(|here| table.next(here));
        position.set(next);
        Ok(Any::from(next.is_some()))
    })?;
    Ok(functor.into_any())
}

/// Borrows a map for copying an entry, if `IS_BORROWED`.
#[inline(always)]
fn read<const IS_BORROWED: bool>(map: &ObjectRef) -> Result<Option<BriefShared<'_>>> {
    // SAFETY: the callers copy an entry, and do nothing else.
    IS_BORROWED.then(|| unsafe { BriefShared::of(map) }).transpose()
}

#[cold]
fn no_entry() -> Error {
    plain_error!(INDEX_ERROR, "The iteration stands at no entry")
}
