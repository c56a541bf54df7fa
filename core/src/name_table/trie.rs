//! A hash trie with lock-free readers. Nodes never move.
//!
//! Each node is complete before the single store that publishes it.

use crate::sync::atomic::{AtomicPtr, Ordering};

/// Number of branches per node.
pub(super) const BRANCHES: usize = 4;

/// A node of a trie.
pub(super) trait Node: Sized {
    /// Returns the branches. Each is null, or points to a node that was complete when published and lives as long as
    /// this one.
    fn branches(&self) -> &[AtomicPtr<Self>; BRANCHES];
}

/// Loads the node to which a branch points.
#[inline(always)]
pub(super) fn node<N: Node>(branch: &AtomicPtr<N>) -> Option<&N> {
    // SAFETY: the node at a branch is complete and lives as long as the branch (contract of the trait).
    unsafe { branch.load(Ordering::Acquire).as_ref() }
}

/// Finds the branch to the node with this hash for which `is_wanted` returns `true`, or the vacant branch where such a
/// node belongs.
#[inline(always)]
pub(super) fn walk<N: Node>(
    root: &AtomicPtr<N>,
    hash: usize,
    is_wanted: impl Fn(&N) -> bool,
) -> &AtomicPtr<N> {
    let (mut branch, mut bits) = (root, hash);
    while let Some(node) = node(branch)
        && !is_wanted(node)
    {
        branch = &node.branches()[bits % BRANCHES];
        bits /= BRANCHES;
    }
    branch
}

#[cfg(all(test, not(loom)))]
mod tests {
    extern crate std;
    use super::*;
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

    #[test]
    fn nodes_are_found_where_they_were_added() {
        let hashes = [7, 0, usize::MAX, 7, 1 << 31, 0, 3];
        let root = AtomicPtr::new(ptr::null_mut());
        let find = |hash, number| walk(&root, hash, |node: &Number| node.number == number);
        let mut nodes = Vec::new();
        for (number, hash) in (0..).zip(hashes) {
            let branch = find(hash, number);
            assert!(node(branch).is_none());
            let branches = [const { AtomicPtr::new(ptr::null_mut()) }; BRANCHES];
            nodes.push(Box::into_raw(Box::new(Number { hash, number, branches })));
            branch.store(nodes[nodes.len() - 1], Ordering::Release);
        }
        for (number, hash) in (0..).zip(hashes) {
            assert_eq!(node(find(hash, number)).map(|node| node.hash), Some(hash));
        }
        assert!(node(find(7, 99)).is_none());
        // SAFETY: the nodes came from boxes, and nobody uses them any more.
        nodes.into_iter().for_each(|node| drop(unsafe { Box::from_raw(node) }));
    }
}
