//! The places of entries on boards: each entry is a node of a trie, which takes no memory beside the entries and little code.

use core::ptr::{self, NonNull};

use super::{Entry, NameTable, Place, hash, trie};
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

/// The branch that an entry would be on, and the hash of its name.
pub(super) struct Room<'a, V> {
    branch: &'a AtomicPtr<Entry<V>>,
    hash: usize,
}

impl<V> Places<V> {
    pub(super) const fn new() -> Self {
        Places(AtomicPtr::new(ptr::null_mut()))
    }

    /// The branch on which the entry of a name is, or would be; and the hash of the name.
    #[inline(never)]
    fn walk(&self, name: &[u8]) -> (&AtomicPtr<Entry<V>>, usize) {
        let hash = hash(name);
        (trie::walk(&self.0, hash, |entry| entry.is_of(name, hash)), hash)
    }

    #[inline(always)]
    pub(super) fn find(&self, name: &[u8]) -> Option<&Entry<V>> {
        trie::node(self.walk(name).0)
    }

    /// The entry of a name, or room for it. The caller holds the table's lock.
    pub(super) fn place(&self, _: &NameTable<V>, name: &[u8]) -> Option<Place<'_, V>> {
        let (branch, hash) = self.walk(name);
        Some(trie::node(branch).map_or(Place::Free(Room { branch, hash }), Place::Taken))
    }
}

impl<V> Room<'_, V> {
    /// The hash of the name.
    pub(super) fn hash(&self) -> usize {
        self.hash
    }

    /// Publishes an entry.
    ///
    /// # Safety
    /// The entry is complete and lives as long as the table, whose lock the caller holds.
    pub(super) unsafe fn put(self, entry: NonNull<Entry<V>>) {
        self.branch.store(entry.as_ptr(), Ordering::Release);
    }
}
