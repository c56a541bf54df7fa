//! The places of entries on boards: each entry is a node of a trie, which takes no memory beside the entries and little code.

use core::ptr::{self, NonNull};

use super::names::{Name, Names, hash};
use super::trie;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// The root of the trie.
pub(super) struct Places(AtomicPtr<Name>);

/// The branches of an entry.
pub(super) struct Links([AtomicPtr<Name>; trie::BRANCHES]);

impl Links {
    pub(super) const fn new() -> Self {
        Links([
            AtomicPtr::new(ptr::null_mut()),
            AtomicPtr::new(ptr::null_mut()),
            AtomicPtr::new(ptr::null_mut()),
            AtomicPtr::new(ptr::null_mut()),
        ])
    }
}

impl trie::Node for Name {
    fn branches(&self) -> &[AtomicPtr<Self>; trie::BRANCHES] {
        &self.links.0
    }
}

/// The branch that an entry would be on, and the hash of its name.
pub(super) struct Room<'a> {
    branch: &'a AtomicPtr<Name>,
    hash: usize,
}

impl Places {
    pub(super) const fn new() -> Self {
        Places(AtomicPtr::new(ptr::null_mut()))
    }

    /// The branch on which the entry of a name is, or would be; and the hash of the name.
    #[inline(never)]
    fn walk(&self, name: &[u8]) -> (&AtomicPtr<Name>, usize) {
        let hash = hash(name);
        (trie::walk(&self.0, hash, |node| node.is(name, hash)), hash)
    }

    #[inline(always)]
    pub(super) fn find(&self, name: &[u8]) -> Option<NonNull<Name>> {
        NonNull::new(self.walk(name).0.load(Ordering::Acquire))
    }

    /// The name, or room for it. The caller holds the table's lock.
    pub(super) fn place(&self, _: &Names, name: &[u8]) -> Option<Result<NonNull<Name>, Room<'_>>> {
        let (branch, hash) = self.walk(name);
        Some(NonNull::new(branch.load(Ordering::Acquire)).ok_or(Room { branch, hash }))
    }
}

impl Room<'_> {
    /// The hash of the name.
    pub(super) fn hash(&self) -> usize {
        self.hash
    }

    /// Publishes an entry.
    ///
    /// # Safety
    /// The entry is complete and lives as long as the table, whose lock the caller holds.
    pub(super) unsafe fn put(self, name: NonNull<Name>) {
        self.branch.store(name.as_ptr(), Ordering::Release);
    }
}
