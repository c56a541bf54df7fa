//! Lookup of entries by type index: a linked list, newest first, with lock-free readers. Types are
//! few in size-optimised builds.

use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use core::cell::Cell;
use core::ptr;

use super::super::arena::{Arena, NoMemory};
use super::super::entry::TypeEntry;

/// One past the highest type index.
pub(in crate::names::type_table) const END_OF_INDICES: i32 = 1 << 16;

/// Pointer to the next entry of the list; never changes once its entry is published.
pub(in crate::names::type_table) struct Link(Cell<*const TypeEntry>);

impl Link {
    pub(in crate::names::type_table) const fn new() -> Link {
        Link(Cell::new(ptr::null()))
    }
}

static FIRST: AtomicPtr<TypeEntry> = AtomicPtr::new(ptr::null_mut());

/// Iterates over the registered types, and over the built-in types looked up so far.
pub(in crate::names::type_table) fn all() -> impl Iterator<Item = &'static TypeEntry> {
    let mut at = FIRST.load(Ordering::Acquire).cast_const();
    core::iter::from_fn(move || {
        // SAFETY: published entries are complete and live forever.
        let entry = unsafe { at.as_ref()? };
        at = entry.link.0.get();
        Some(entry)
    })
}

/// Finds the entry of a type index in the list.
#[inline(never)]
pub(in crate::names::type_table) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    all().find(|entry| entry.type_index() == type_index)
}

/// Returns `true` if the first type is registered and derived from the second.
pub(in crate::names::type_table) use super::super::has_ancestor as descends_from;

/// A slot for a new entry; stores nothing.
pub(in crate::names::type_table) struct EntrySlot;

/// Reserves nothing: entries contain their links.
pub(in crate::names::type_table) fn reserve(_: i32, _: &Arena) -> Result<EntrySlot, NoMemory> {
    Ok(EntrySlot)
}

impl EntrySlot {
    /// Adds an entry to the list, which publishes it. The caller holds the registry's lock.
    pub(in crate::names::type_table) fn publish(self, entry: &'static TypeEntry) {
        entry.link.0.set(FIRST.load(Ordering::Relaxed));
        FIRST.store(ptr::from_ref(entry).cast_mut(), Ordering::Release);
    }
}
