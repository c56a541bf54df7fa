//! Commits of token trees: the nodes of an accepted branch are moved to the front of the tokens of
//! the last step, and the rest of these is removed. As upstream's tests have it, the nodes of a
//! tree that several steps made are counted from the last one, and those of earlier steps stay.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Shape, plain_ensure};

use super::arity::wrong_count;
use super::cache::Cache;
use super::device_array::{matrix, vector};
use super::record::PagedCache;

/// Accepts a branch of the tree of each sequence. The arguments are (sequences, leaves); a leaf of
/// -1 accepts no node.
pub(super) fn commit_trees(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [ids, leaves] = args else { return Err(wrong_count(args)) };
    let (ids, leaves) = (ids.get::<Shape>()?, leaves.get::<Shape>()?);
    cache.with(|cache| commit(cache, ids.as_slice(), leaves.as_slice()))?;
    Ok(Any::NONE)
}

/// An accepted branch: the entry of its sequence, and its last node; -1 for none.
#[derive(Clone, Copy)]
struct Branch {
    entry: usize,
    leaf: i32,
}

fn commit(cache: &mut Cache, ids: &[i64], leaves: &[i64]) -> Result<()> {
    plain_ensure!(
        ids.len() == leaves.len(),
        INTERNAL_ERROR,
        "Check failed: seq_ids.size() == leaf_indices.size() ({} vs. {}) : The given seq_ids and leaf_indices have different size.",
        ids.len(),
        leaves.len()
    );
    let mut branches = Buffer::try_with_capacity(ids.len())?;
    for (id, leaf) in ids.iter().zip(leaves) {
        branches.try_push(check_branch(cache, *id, *leaf, &branches)?)?;
    }
    move_nodes(cache, &branches)?;
    let Cache { storage, kernels, sequences, .. } = cache;
    let copy = |from, to, slots| storage.copy_page(kernels, from, to, slots);
    for branch in branches.iter() {
        let tree = &sequences.at(branch.entry).tree;
        let rejected = tree.newest_count() as i32 - tree.path_length(branch.leaf);
        // Nodes are in pages of this sequence alone, so nothing is copied.
        sequences.shorten_at(branch.entry, rejected, &copy)?;
        sequences.at_mut(branch.entry).0.tree.clear();
    }
    Ok(())
}

fn check_branch(cache: &Cache, id: i64, leaf: i64, earlier: &[Branch]) -> Result<Branch> {
    let entry = cache.sequences.find(id)?;
    let tree = &cache.sequences.at(entry).tree;
    plain_ensure!(
        earlier.iter().all(|branch| branch.entry != entry),
        INTERNAL_ERROR,
        "The sequence \"{}\" occurs twice in a commit of token trees",
        &id
    );
    plain_ensure!(
        leaf == -1 || !tree.is_committed(),
        INTERNAL_ERROR,
        "Check failed: (leaf_indices[i] == -1 || !it->second.accepted_indices_committed) is false: The accepted nodes of sequence {} \
         are already committed.",
        &id
    );
    plain_ensure!(
        leaf >= -1,
        INTERNAL_ERROR,
        "Check failed: leaf_indices[i] >= -1 ({} vs. -1) : Invalid tree index {} which is less than -1",
        &leaf,
        &leaf
    );
    plain_ensure!(
        leaf < tree.len() as i64,
        INTERNAL_ERROR,
        "Check failed: leaf_indices[i] < static_cast<int64_t>(it->second.token_tree_parent_ptr.size()) ({} vs. {}) : Invalid tree \
         index {} which is larger than or equals to the append length {} of the sequence",
        &leaf,
        tree.len(),
        &leaf,
        tree.len()
    );
    plain_ensure!(
        leaf < tree.newest_count() as i64,
        INTERNAL_ERROR,
        "Invalid tree index {} of a tree of several steps: the last one has {} nodes",
        &leaf,
        tree.newest_count()
    );
    Ok(Branch { entry, leaf: leaf as i32 })
}

/// Moves the nodes of each branch to the places of the first nodes of the last step.
fn move_nodes(cache: &Cache, branches: &[Branch]) -> Result<()> {
    let page_size = cache.config.page_size;
    let (mut ends, mut sources, mut targets) = (Buffer::new(), Buffer::new(), Buffer::new());
    ends.try_push(0)?;
    for branch in branches {
        let sequence = cache.sequences.at(branch.entry);
        let base = sequence.length - sequence.tree.newest_count() as i32;
        let first = sources.len();
        for (node, depth) in sequence.tree.path_to_root(branch.leaf) {
            // A node is never in front of its place, and the rest of the path is in place, too.
            if node == depth {
                break;
            }
            sources.try_push(sequence.place(base + node, page_size))?;
            targets.try_push(sequence.place(base + depth, page_size))?;
        }
        // From the root to the leaf, so that no source is overwritten before it is read.
        sources.as_mut_slice()[first..].reverse();
        targets.as_mut_slice()[first..].reverse();
        ends.try_push(sources.len() as i32)?;
    }
    if sources.is_empty() {
        return Ok(());
    }
    let device = cache.config.device;
    let ends = vector(&ends, device)?;
    let moves = matrix(&mut sources, &targets, device)?;
    for pages in cache.storage.pages.iter() {
        cache.kernels.compact.call_packed(&[
            pages.into(),
            (&ends).into(),
            (&moves).into(),
            (branches.len() as i64).into(),
        ])?;
    }
    Ok(())
}
