//! Token trees: candidate continuations of a sequence, one branch of which is accepted later.

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::platform::memory::Buffer;

/// Largest number of nodes of a tree.
const MOST_NODES: usize = 256;

/// The token tree of a sequence. Its nodes are the last tokens of the sequence.
#[derive(Default)]
pub(super) struct TokenTree {
    nodes: Buffer<TreeNode>,
    /// Number of nodes from the last step.
    newest_count: usize,
    is_pending: bool,
}

/// A token of a tree.
#[derive(Clone, Copy)]
struct TreeNode {
    /// Index of the parent; -1 for a root.
    parent: i32,
    /// Number of ancestors.
    depth: i32,
}

impl TokenTree {
    /// Returns whether no branch has to be accepted before other tokens follow.
    #[inline]
    pub(super) fn is_committed(&self) -> bool {
        !self.is_pending
    }

    /// Returns the number of nodes.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of nodes from the last step.
    #[inline]
    pub(super) fn newest_count(&self) -> usize {
        self.newest_count
    }

    /// Returns whether each node is the parent of the next one.
    pub(super) fn is_chain(&self) -> bool {
        self.nodes.iter().zip(-1..).all(|(node, previous)| node.parent == previous)
    }

    /// Removes all nodes.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.newest_count = 0;
        self.is_pending = false;
    }

    /// Checks that nodes with these parents can be added, and reserves capacity for them. `number`
    /// is that of the tree in the batch. Returns whether the tree is then a chain.
    ///
    /// # Errors
    /// InternalError for a parent that is not an earlier node, or for more than 256 nodes;
    /// MemoryError.
    pub(super) fn check(&mut self, number: usize, parents: &[i64]) -> Result<bool> {
        let first = self.nodes.len();
        let size = first + parents.len();
        plain_ensure!(
            size <= MOST_NODES,
            INTERNAL_ERROR,
            "Check failed: sequences[i]->token_tree_parent_ptr.size() <= kTreeAttnMaxTreeSize ({} vs. {}) : The tree size is {} which \
             exceeds the maximum tree size limit {}",
            size,
            MOST_NODES,
            size,
            MOST_NODES
        );
        let mut is_chain = self.is_chain();
        for (node, parent) in (first as i64..).zip(parents) {
            plain_ensure!(
                *parent < node,
                INTERNAL_ERROR,
                "Check failed: sequences[i]->token_tree_parent_ptr[n] < n ({} vs. {}) : Invalid token tree. The parent of node {} in \
                 tree {} is {}, which is not smaller than {}",
                parent,
                &node,
                &node,
                number,
                parent,
                &node
            );
            plain_ensure!(
                *parent >= -1,
                INTERNAL_ERROR,
                "Check failed: sequences[i]->token_tree_parent_ptr[n] >= -1 ({} vs. -1) : Invalid token tree. The parent of node {} in \
                 tree {} is {}",
                parent,
                &node,
                number,
                parent
            );
            is_chain &= *parent == node - 1;
        }
        self.nodes.try_reserve(parents.len())?;
        Ok(is_chain)
    }

    /// Adds nodes whose parents [`check`](TokenTree::check) accepted.
    pub(super) fn add(&mut self, parents: &[i64]) {
        self.is_pending = true;
        self.newest_count = parents.len();
        for parent in parents {
            let depth = usize::try_from(*parent)
                .ok()
                .and_then(|parent| self.nodes.get(parent))
                .map_or(0, |node| node.depth + 1);
            // The capacity was reserved.
            let _ = self.nodes.try_push(TreeNode { parent: *parent as i32, depth });
        }
    }

    /// Returns the number of ancestors of the nodes from index `first` on.
    pub(super) fn depths(&self, first: usize) -> impl Iterator<Item = i32> {
        self.nodes.get(first..).unwrap_or_default().iter().map(|node| node.depth)
    }

    /// Returns the number of nodes from a root to a node, with both.
    pub(super) fn path_length(&self, leaf: i32) -> i32 {
        usize::try_from(leaf)
            .ok()
            .and_then(|leaf| self.nodes.get(leaf))
            .map_or(0, |node| node.depth + 1)
    }

    /// Iterates over a node and its ancestors, with the depth of each.
    pub(super) fn path_to_root(&self, leaf: i32) -> impl Iterator<Item = (i32, i32)> {
        let node = |index: i32| {
            usize::try_from(index).ok().and_then(|at| self.nodes.get(at)).map(|node| (index, node))
        };
        core::iter::successors(node(leaf), move |(_, of)| node(of.parent))
            .map(|(index, node)| (index, node.depth))
    }

    /// Writes the mask of the tree: for each node its number in preorder, and the end of the
    /// numbers in its subtree. Node a sees node b if the number of a is in the subtree of b.
    pub(super) fn write_mask(&self, mut write: impl FnMut(i32)) {
        let count = self.nodes.len().min(MOST_NODES);
        let mut sizes = [1u16; MOST_NODES];
        for (index, node) in self.nodes.iter().enumerate().take(count).rev() {
            if let Ok(parent) = usize::try_from(node.parent) {
                sizes[parent] += sizes[index];
            }
        }
        // Number of the next child of each node.
        let (mut next, mut root) = ([0u16; MOST_NODES], 0u16);
        for (index, node) in self.nodes.iter().enumerate().take(count) {
            let cursor = match usize::try_from(node.parent) {
                Ok(parent) => &mut next[parent],
                Err(_) => &mut root,
            };
            let first = *cursor;
            *cursor += sizes[index];
            next[index] = first + 1;
            write(i32::from(first));
            write(i32::from(first + sizes[index]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn tree(parents: &[i64]) -> TokenTree {
        let mut tree = TokenTree::default();
        tree.check(0, parents).unwrap();
        tree.add(parents);
        tree
    }

    #[test]
    fn a_node_sees_itself_and_its_ancestors_only() {
        let parents = [-1, 0, 0, 1, 2, 1, -1, 6, 4];
        let tree = tree(&parents);
        let mut mask = Vec::new();
        tree.write_mask(|value| mask.push(value));
        for a in 0..parents.len() {
            let mut ancestors = Vec::new();
            let mut node = a as i64;
            while node >= 0 {
                ancestors.push(node as usize);
                node = parents[node as usize];
            }
            for b in 0..parents.len() {
                let sees = mask[2 * b] <= mask[2 * a] && mask[2 * a] < mask[2 * b + 1];
                assert_eq!(sees, ancestors.contains(&b), "{a} sees {b}");
            }
        }
    }

    #[test]
    fn a_path_leads_from_a_leaf_to_its_root() {
        let tree = tree(&[-1, 0, 0, 2]);
        assert_eq!(tree.path_to_root(3).collect::<Vec<_>>(), [(3, 2), (2, 1), (0, 0)]);
        assert_eq!((tree.path_length(3), tree.path_length(-1)), (3, 0));
        assert!(!tree.is_chain());
    }

    #[test]
    fn parents_must_come_first() {
        let mut tree = TokenTree::default();
        assert!(tree.check(0, &[-1, 1]).is_err());
        assert!(tree.check(0, &[-2]).is_err());
        assert!(tree.check(0, &[-1; MOST_NODES + 1]).is_err());
        assert!(tree.check(0, &[-1, 0, 1]).unwrap());
    }
}
