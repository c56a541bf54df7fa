//! A hash trie whose nodes are the entries themselves; it takes little code and no memory of its own.

use core::ptr::{self, NonNull};

use super::super::names::{Name, Names, hash};
use super::super::trie;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// The root of the trie.
pub(in crate::name_table) struct Lookup(AtomicPtr<Name>);

/// The branches of an entry.
pub(in crate::name_table) struct Links([AtomicPtr<Name>; trie::BRANCHES]);

impl Links {
    pub(in crate::name_table) const fn new() -> Self {
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

/// A vacant branch for an entry, and the hash of its name.
pub(in crate::name_table) struct VacantEntry<'a> {
    branch: &'a AtomicPtr<Name>,
    hash: usize,
}

impl Lookup {
    pub(in crate::name_table) const fn new() -> Self {
        Lookup(AtomicPtr::new(ptr::null_mut()))
    }

    /// Finds the branch of a name, which is null if the name is unknown; returns it and the hash of the name.
    #[inline(never)]
    fn walk(&self, name: &[u8]) -> (&AtomicPtr<Name>, usize) {
        let hash = hash(name);
        (trie::walk(&self.0, hash, |node| node.is(name, hash)), hash)
    }

    #[inline(always)]
    pub(in crate::name_table) fn find(&self, name: &[u8]) -> Option<NonNull<Name>> {
        NonNull::new(self.walk(name).0.load(Ordering::Acquire))
    }

    /// Finds a name, or a vacant entry for it. The caller holds the table's lock.
    pub(in crate::name_table) fn place(
        &self,
        _: &Names,
        name: &[u8],
    ) -> Option<Result<NonNull<Name>, VacantEntry<'_>>> {
        let (branch, hash) = self.walk(name);
        Some(NonNull::new(branch.load(Ordering::Acquire)).ok_or(VacantEntry { branch, hash }))
    }
}

impl VacantEntry<'_> {
    /// The hash of the name.
    pub(in crate::name_table) fn hash(&self) -> usize {
        self.hash
    }

    /// Publishes an entry.
    ///
    /// # Safety
    /// The entry is complete and lives as long as the table, whose lock the caller holds.
    pub(in crate::name_table) unsafe fn put(self, name: NonNull<Name>) {
        self.branch.store(name.as_ptr(), Ordering::Release);
    }
}
