//! A hash trie with lock-free readers. Nodes never move.
//!
//! Each node is complete before the single store that publishes it.

use crate::platform::sync::atomic::{AtomicPtr, Ordering};

/// Number of branches per node.
pub(super) const BRANCHES: usize = 4;

/// A node of a trie.
pub(super) trait Node: Sized {
    /// Returns the branches. Each is null, or points to a node that was complete when published and
    /// lives as long as this one.
    fn branches(&self) -> &[AtomicPtr<Self>; BRANCHES];
}

/// Finds the node with this hash for which `is_wanted` returns `true`, or null, and the branch
/// where it was found or belongs.
///
/// Each branch is loaded once: another node may be added to a vacant branch at any time.
#[inline(always)]
pub(super) fn walk<N: Node>(
    root: &AtomicPtr<N>,
    hash: usize,
    is_wanted: impl Fn(&N) -> bool,
) -> (&AtomicPtr<N>, *mut N) {
    let (mut branch, mut bits) = (root, hash);
    loop {
        let found = branch.load(Ordering::Acquire);
        // SAFETY: the node at a branch is complete and lives as long as the branch (contract of the
        // trait).
        match unsafe { found.as_ref() } {
            Some(node) if !is_wanted(node) => branch = &node.branches()[bits % BRANCHES],
            _ => return (branch, found),
        }
        bits /= BRANCHES;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;
    use super::*;
    use core::cell::Cell;
    use core::ptr;
    use std::boxed::Box;
    use std::vec::Vec;

    struct Number {
        hash: usize,
        number: u32,
        branches: [AtomicPtr<Number>; BRANCHES],
    }

    impl Node for Number {
        fn branches(&self) -> &[AtomicPtr<Number>; BRANCHES] {
            &self.branches
        }
    }

    /// A trie of numbers, which are their own hashes, or others.
    struct Trie {
        root: AtomicPtr<Number>,
        nodes: Vec<*mut Number>,
    }

    impl Trie {
        fn new() -> Self {
            Self { root: AtomicPtr::new(ptr::null_mut()), nodes: Vec::new() }
        }

        /// Returns the hash of a number's node, if there is one, and how many nodes were looked at.
        fn find(&self, hash: usize, number: u32) -> (Option<usize>, usize) {
            let looks = Cell::new(0);
            let (_, found) = walk(&self.root, hash, |node: &Number| {
                looks.set(looks.get() + 1);
                node.number == number
            });
            // SAFETY: nodes live as long as the trie.
            (unsafe { found.as_ref() }.map(|node| node.hash), looks.get())
        }

        fn add(&mut self, hash: usize, number: u32) {
            let (branch, found) = walk(&self.root, hash, |node: &Number| node.number == number);
            assert!(found.is_null());
            let branches = [const { AtomicPtr::new(ptr::null_mut()) }; BRANCHES];
            let node = Box::into_raw(Box::new(Number { hash, number, branches }));
            branch.store(node, Ordering::Release);
            self.nodes.push(node);
        }
    }

    impl Drop for Trie {
        fn drop(&mut self) {
            // SAFETY: the nodes came from boxes, and nobody uses them any more.
            self.nodes.iter().for_each(|node| drop(unsafe { Box::from_raw(*node) }));
        }
    }

    #[test]
    fn nodes_are_found_where_they_were_added() {
        let hashes = [7, 0, usize::MAX, 7, 1 << 31, 0, 3];
        let mut trie = Trie::new();
        for (number, hash) in (0..).zip(hashes) {
            assert_eq!(trie.find(hash, number).0, None);
            trie.add(hash, number);
        }
        for (number, hash) in (0..).zip(hashes) {
            assert_eq!(trie.find(hash, number).0, Some(hash));
        }
        assert_eq!(trie.find(7, 99).0, None);
    }

    #[test]
    fn a_node_is_no_deeper_than_its_hash_has_digits() {
        let mut trie = Trie::new();
        (0..256).for_each(|number| trie.add(number as usize, number));
        assert!((0..256).all(|number| trie.find(number as usize, number).1 <= 1 + 4));
    }
}
