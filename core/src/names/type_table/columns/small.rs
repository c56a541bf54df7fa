//! Lookup of attribute columns by name: a linked list of all columns, newest first.

use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use core::ptr;
use core::slice;

use crate::error::Result;

use super::super::REGISTRY;
use super::super::arena::{Arena, NoMemory};
use super::super::attr_column::AttrColumn;

/// A column, its name's length and the next column of the list. The name follows in the same block.
struct NamedColumn {
    column: AttrColumn,
    name_len: usize,
    next: *const NamedColumn,
}

static FIRST: AtomicPtr<NamedColumn> = AtomicPtr::new(ptr::null_mut());

/// Finds the column of an attribute by name.
#[inline(never)]
pub(in crate::names::type_table) fn get(name: &[u8]) -> Option<&'static AttrColumn> {
    let mut at = FIRST.load(Ordering::Acquire).cast_const();
    loop {
        // SAFETY: published columns are complete and live forever.
        let named = unsafe { at.as_ref()? };
        // SAFETY: the name follows the column in the same block.
        if name == unsafe { slice::from_raw_parts(at.add(1).cast(), named.name_len) } {
            return Some(&named.column);
        }
        at = named.next;
    }
}

/// Finds or creates the column of an attribute.
pub(in crate::names::type_table) fn get_or_make(name: &[u8]) -> Result<&'static AttrColumn> {
    let made = REGISTRY.with(|registry| match get(name) {
        Some(column) => Ok(column),
        None => make(&registry.arena, name),
    });
    made.map_err(NoMemory::into_error)
}

fn make(arena: &Arena, name: &[u8]) -> core::result::Result<&'static AttrColumn, NoMemory> {
    let place = arena
        .carve(size_of::<NamedColumn>() + name.len(), align_of::<NamedColumn>())?
        .cast::<NamedColumn>();
    let next = FIRST.load(Ordering::Relaxed);
    // SAFETY: the allocation is new, has space for column and name, lives forever, and is not
    // shared yet.
    let named = unsafe {
        place.write(NamedColumn { column: AttrColumn::new(), name_len: name.len(), next });
        name.as_ptr().copy_to_nonoverlapping(place.add(1).cast().as_ptr(), name.len());
        place.as_ref()
    };
    FIRST.store(place.as_ptr(), Ordering::Release);
    Ok(&named.column)
}
