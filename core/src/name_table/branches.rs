//! The places of entries on boards: each entry is a node of a trie, which takes no memory beside the entries and little code.

use core::ptr::{self, NonNull};

use super::{Entry, NameTable, Place, trie};
use crate::error::Result;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// The root of the trie.
pub(super) struct Places<V>(AtomicPtr<Entry<V>>);

/// The branches of an entry.
pub(super) struct Links<V>([AtomicPtr<Entry<V>>; trie::BRANCHES]);

impl<V> Links<V> {
    pub(super) const fn new() -> Self {
        Links([
            AtomicPtr::new(ptr::null_mut()),
            AtomicPtr::new(ptr::null_mut()),
            AtomicPtr::new(ptr::null_mut()),
            AtomicPtr::new(ptr::null_mut()),
        ])
    }
}

impl<V> trie::Node for Entry<V> {
    fn branches(&self) -> &[AtomicPtr<Self>; trie::BRANCHES] {
        &self.links.0
    }
}

/// The branch that an entry would be on.
pub(super) struct Room<'a, V>(&'a AtomicPtr<Entry<V>>);

impl<V> Places<V> {
    pub(super) const fn new() -> Self {
        Places(AtomicPtr::new(ptr::null_mut()))
    }

    /// The entry of a name and the branch that it is or would be on.
    #[inline(never)]
    fn walk(&self, name: &[u8], hash: usize) -> (Option<&Entry<V>>, &AtomicPtr<Entry<V>>) {
        trie::walk(&self.0, hash, |entry| entry.is_of(name, hash))
    }

    pub(super) fn find(&self, name: &[u8], hash: usize) -> Option<&Entry<V>> {
        self.walk(name, hash).0
    }

    /// The entry of a name, or room for it. The caller holds the table's lock.
    pub(super) fn place(&self, _: &NameTable<V>, name: &[u8], hash: usize) -> Result<Place<'_, V>> {
        Ok(match self.walk(name, hash) {
            (Some(entry), _) => Place::Taken(entry),
            (None, branch) => Place::Free(Room(branch)),
        })
    }
}

impl<V> Room<'_, V> {
    /// Publishes an entry.
    ///
    /// # Safety
    /// The entry is complete and lives as long as the table, whose lock the caller holds.
    pub(super) unsafe fn put(self, entry: NonNull<Entry<V>>) {
        self.0.store(entry.as_ptr(), Ordering::Release);
    }
}
