//! Attribute columns by name: a list, newest first, of those that a board has values for.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{Result, out_of_memory};

use super::REGISTRY;
use super::arena::NoMemory;
use super::attr_column::AttrColumn;

struct Named {
    column: AttrColumn,
    name: &'static [u8],
    next: *const Named,
}

static FIRST: AtomicPtr<Named> = AtomicPtr::new(ptr::null_mut());

/// The column of a name.
#[inline(never)]
pub(super) fn get(name: &[u8]) -> Option<&'static AttrColumn> {
    let mut at = FIRST.load(Ordering::Acquire).cast_const();
    loop {
        // SAFETY: published columns are complete and live for ever.
        let named = unsafe { at.as_ref()? };
        if named.name == name {
            return Some(&named.column);
        }
        at = named.next;
    }
}

/// The column of a name, made when there is none.
pub(super) fn get_or_make(name: &[u8]) -> Result<&'static AttrColumn> {
    if get(name).is_none() {
        make(name).map_err(|NoMemory(bytes)| out_of_memory(bytes))?;
    }
    get(name).ok_or_else(|| out_of_memory(size_of::<Named>()))
}

fn make(name: &[u8]) -> core::result::Result<(), NoMemory> {
    let mut registry = REGISTRY.lock();
    // An interrupt may have been faster.
    if get(name).is_none() {
        let place = registry.arena.array::<Named>(1)?;
        let name = registry.arena.text(name)?;
        let next = FIRST.load(Ordering::Relaxed);
        // SAFETY: the place is fresh, and nobody else knows it yet.
        unsafe { place.write(Named { column: AttrColumn::new(), name, next }) };
        FIRST.store(place.as_ptr(), Ordering::Release);
    }
    Ok(())
}
