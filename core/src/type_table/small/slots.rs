//! From a type index to its entry on boards, which have few types: a list, newest first, that readers walk without lock.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use super::arena::{Arena, NoMemory};
use super::entry::TypeEntry;

/// One past the highest type index.
pub(super) const END_OF_INDICES: i32 = 1 << 16;

/// A type of the list, which never changes once it is there.
struct Link {
    entry: *const TypeEntry,
    next: *const Link,
}

static FIRST: AtomicPtr<Link> = AtomicPtr::new(ptr::null_mut());

/// The registered types, and the built-in ones that somebody asked for.
pub(super) fn all() -> impl Iterator<Item = &'static TypeEntry> {
    let mut at = FIRST.load(Ordering::Acquire).cast_const();
    core::iter::from_fn(move || {
        // SAFETY: published links and their entries are complete and live for ever.
        let link = unsafe { at.as_ref()? };
        at = link.next;
        // SAFETY: as above.
        unsafe { link.entry.as_ref() }
    })
}

/// The entry of an index, if it is in the list.
#[inline(never)]
pub(super) fn entry(type_index: i32) -> Option<&'static TypeEntry> {
    all().find(|entry| entry.type_index() == type_index)
}

/// Room for one more type.
pub(super) struct Slot(NonNull<Link>);

/// Makes room for a type.
pub(super) fn reserve(_: i32, arena: &mut Arena) -> Result<Slot, NoMemory> {
    arena.array(1).map(Slot)
}

impl Slot {
    /// Shows the entry, which lives for ever, to everybody. The caller holds the registry's lock.
    pub(super) fn publish(self, entry: NonNull<TypeEntry>) {
        let next = FIRST.load(Ordering::Relaxed);
        // SAFETY: the link is fresh, and nobody else knows it yet.
        unsafe { self.0.write(Link { entry: entry.as_ptr(), next }) };
        FIRST.store(self.0.as_ptr(), Ordering::Release);
    }
}
