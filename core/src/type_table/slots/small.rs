//! From a type index to its entry: a list, newest first, that readers walk without lock. Types are few in small builds.

use crate::sync::atomic::{AtomicPtr, Ordering};
use core::cell::Cell;
use core::ptr;

use super::super::arena::{Arena, NoMemory};
use super::super::entry::TypeEntry;

/// One past the highest type index.
pub(in crate::type_table) const END_OF_INDICES: i32 = 1 << 16;

/// The next entry of the list; never changes once its own entry is there.
pub(in crate::type_table) struct Link(Cell<*const TypeEntry>);

impl Link {
    pub(in crate::type_table) const fn new() -> Link {
        Link(Cell::new(ptr::null()))
    }
}

static FIRST: AtomicPtr<TypeEntry> = AtomicPtr::new(ptr::null_mut());

/// The registered types, and the built-in ones that somebody asked for.
pub(in crate::type_table) fn all() -> impl Iterator<Item = &'static TypeEntry> {
    let mut at = FIRST.load(Ordering::Acquire).cast_const();
    core::iter::from_fn(move || {
        // SAFETY: published entries are complete and live for ever.
        let entry = unsafe { at.as_ref()? };
        at = entry.link.0.get();
        Some(entry)
    })
}

/// The entry of an index, if it is in the list.
#[inline(never)]
pub(in crate::type_table) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    all().find(|entry| entry.type_index() == type_index)
}

/// Whether the first type was registered as a descendant of the second.
pub(in crate::type_table) use super::super::has_ancestor as descends_from;

/// The place of one more type.
pub(in crate::type_table) struct EntrySlot;

/// Entries have room for their place in the list.
pub(in crate::type_table) fn reserve(_: i32, _: &Arena) -> Result<EntrySlot, NoMemory> {
    Ok(EntrySlot)
}

impl EntrySlot {
    /// Shows the entry, which nobody else knows yet, to everybody. The caller holds the registry's lock.
    pub(in crate::type_table) fn publish(self, entry: &'static TypeEntry) {
        entry.link.0.set(FIRST.load(Ordering::Relaxed));
        FIRST.store(ptr::from_ref(entry).cast_mut(), Ordering::Release);
    }
}
