//! From a type index to its entry on boards, which have few types: a list, newest first, that readers walk without lock.

use crate::sync::atomic::{AtomicPtr, Ordering};
use core::cell::Cell;
use core::ptr;

use super::arena::{Arena, NoMemory};
use super::entry::TypeEntry;

/// One past the highest type index.
pub(super) const END_OF_INDICES: i32 = 1 << 16;

/// The next entry of the list; never changes once its own entry is there.
pub(super) struct Link(Cell<*const TypeEntry>);

impl Link {
    pub(super) const fn new() -> Link {
        Link(Cell::new(ptr::null()))
    }
}

static FIRST: AtomicPtr<TypeEntry> = AtomicPtr::new(ptr::null_mut());

/// The registered types, and the built-in ones that somebody asked for.
pub(super) fn all() -> impl Iterator<Item = &'static TypeEntry> {
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
pub(super) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    all().find(|entry| entry.type_index() == type_index)
}

/// Whether the first type was registered as a descendant of the second.
pub(super) use super::has_ancestor as descends_from;

/// The place of one more type.
pub(super) struct Slot;

/// Entries have room for their place in the list.
pub(super) fn reserve(_: i32, _: &Arena) -> Result<Slot, NoMemory> {
    Ok(Slot)
}

impl Slot {
    /// Shows the entry, which nobody else knows yet, to everybody. The caller holds the registry's lock.
    pub(super) fn publish(self, entry: &'static TypeEntry) {
        entry.link.0.set(FIRST.load(Ordering::Relaxed));
        FIRST.store(ptr::from_ref(entry).cast_mut(), Ordering::Release);
    }
}
