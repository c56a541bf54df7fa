//! Name lookup by a hash trie. Its nodes are the entries themselves, so it takes little code and no
//! additional memory.

use core::ptr::{self, NonNull};

use super::super::names::{Name, Names, hash};
use super::super::trie;
use crate::platform::sync::atomic::{AtomicPtr, Ordering};
use crate::platform::sync::const_new;

/// Name lookup of one table: the root of its trie.
pub(in crate::names::name_table) struct Lookup(AtomicPtr<Name>);

/// Trie branches stored in each entry.
pub(in crate::names::name_table) struct Links([AtomicPtr<Name>; trie::BRANCHES]);

impl Links {
    pub(in crate::names::name_table) fn new() -> Self {
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

/// A vacant branch where an entry can be inserted, and the hash of its name.
pub(in crate::names::name_table) struct VacantEntry<'a> {
    branch: &'a AtomicPtr<Name>,
    hash: usize,
}

impl Lookup {
    const_new! {
        pub(in crate::names::name_table) fn new() -> Self {
            Lookup(AtomicPtr::new(ptr::null_mut()))
        }
    }

    /// Finds the entry of a name, or null, and the branch where it was found or belongs: two words,
    /// which stay in registers.
    #[inline(never)]
    fn walk(&self, name: &[u8]) -> (&AtomicPtr<Name>, *mut Name) {
        let hash = hash(name);
        trie::walk(&self.0, hash, |node| node.is(name, hash))
    }

    #[inline(always)]
    pub(in crate::names::name_table) fn find(&self, name: &[u8]) -> Option<NonNull<Name>> {
        NonNull::new(self.walk(name).1)
    }

    /// Finds the entry of a name, or the vacant entry to insert it at. The caller holds the table's
    /// lock.
    pub(in crate::names::name_table) fn place(
        &self,
        _: &Names,
        name: &[u8],
    ) -> Option<Result<NonNull<Name>, VacantEntry<'_>>> {
        let (branch, found) = self.walk(name);
        Some(NonNull::new(found).ok_or_else(|| VacantEntry { branch, hash: hash(name) }))
    }
}

impl VacantEntry<'_> {
    /// Returns the hash of the name to insert.
    pub(in crate::names::name_table) fn hash(&self) -> usize {
        self.hash
    }

    /// Publishes an entry at the vacant branch.
    ///
    /// # Safety
    /// The entry must be complete and live as long as the table, whose lock the caller must hold.
    pub(in crate::names::name_table) unsafe fn put(self, name: NonNull<Name>) {
        self.branch.store(name.as_ptr(), Ordering::Release);
    }
}
