//! The batch of a step: checks of its sequences, and their growth.

use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::platform::memory::Buffer;

use crate::builtins::paged_kv_cache::config::Config;
use crate::builtins::paged_kv_cache::growth::Growth;
use crate::builtins::paged_kv_cache::sequences::Sequences;

/// Arguments of a step: sequences, numbers of new tokens, and parents of the tokens in trees.
#[derive(Clone, Copy)]
pub(in super::super) struct Request<'a> {
    pub(in super::super) ids: &'a [i64],
    pub(in super::super) lengths: &'a [i64],
    pub(in super::super) parents: Option<&'a [i64]>,
}

/// Neighbours in a batch with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Index in the batch of the first one.
    pub(super) first: u32,
    pub(super) count: u32,
    /// Number of pages of the prefix.
    pub(super) pages: u32,
}

/// A sequence of a batch.
#[derive(Clone, Copy)]
pub(super) struct Member {
    /// Entry of the sequence.
    pub(super) entry: u32,
    /// Number of new tokens.
    pub(super) count: i32,
    /// Length before the step.
    pub(super) before: i32,
    /// Position of the first new token, or of the first root of its token tree.
    pub(super) base: i32,
    /// Number of pages in the prefix that other members share; 0 if kernels read none at once.
    pub(super) prefix: u32,
    pub(super) growth: Growth,
}

/// Sums over a batch.
pub(super) struct Summary {
    pub(super) rows: i32,
    /// Whether a sequence has a token tree of an earlier step.
    pub(super) has_pending_tree: bool,
    /// Whether all token trees are chains.
    pub(super) is_chain: bool,
    /// Number of pages to take.
    pub(super) taken_pages: usize,
    /// Number of pages that become free, as windows slide.
    pub(super) left_pages: usize,
}

/// Checks the sequences and tokens of a step, and reserves capacity in page tables and trees.
/// `number` is that of the step.
///
/// # Errors
/// InternalError for a sequence that does not exist or occurs twice, tokens that do not fit a step,
/// and invalid or missing trees; MemoryError.
pub(super) fn plan(
    batch: &mut Buffer<Member>,
    number: u32,
    config: &Config,
    sequences: &mut Sequences,
    request: Request<'_>,
) -> Result<Summary> {
    batch.try_reserve(request.ids.len())?;
    let mut rows = 0i64;
    let mut summary =
        Summary { rows: 0, has_pending_tree: false, is_chain: true, taken_pages: 0, left_pages: 0 };
    for (index, (id, count)) in request.ids.iter().zip(request.lengths).enumerate() {
        let entry = sequences.find(*id)?;
        let first = rows as usize;
        rows = add_rows(rows, *count, config)?;
        let (sequence, _) = sequences.at_mut(entry);
        plain_ensure!(
            sequence.step != number,
            INTERNAL_ERROR,
            "The sequence \"{}\" occurs twice in a step of the KV cache",
            id
        );
        sequence.step = number;
        summary.has_pending_tree |= !sequence.tree.is_committed();
        if let Some(parents) = request.parents {
            let own = parents_of(parents, first, *count as usize, rows)?;
            summary.is_chain &= sequence.tree.check(index, own)?;
        } else {
            check_committed(sequence.tree.is_committed(), *id)?;
        }
        let growth = Growth::plan(sequence, *count as i32, config.page_size, config.slides);
        if growth.taken != 0 {
            sequence.reserve_pages(growth.pages as usize)?;
        }
        summary.taken_pages += growth.taken as usize;
        summary.left_pages += growth.left as usize;
        let before = sequence.length;
        let base = before - sequence.tree.len() as i32;
        let (entry, count) = (entry as u32, *count as i32);
        batch.try_push(Member { entry, count, before, base, prefix: 0, growth })?;
    }
    check_parents(request.parents, rows)?;
    summary.rows = rows as i32;
    Ok(summary)
}

/// Adds the new tokens of a sequence to those of the step.
#[inline]
fn add_rows(rows: i64, count: i64, config: &Config) -> Result<i64> {
    plain_ensure!(
        count > 0,
        INTERNAL_ERROR,
        "Check failed: append_length > 0 ({} vs. 0) : Append with length 0 is not allowed.",
        &count
    );
    let sum = rows.saturating_add(count);
    plain_ensure!(
        sum <= config.longest_step,
        INTERNAL_ERROR,
        "A step of {} tokens exceeds the prefill chunk size {} of the KV cache",
        &sum,
        &config.longest_step
    );
    Ok(sum)
}

fn parents_of(parents: &[i64], first: usize, count: usize, rows: i64) -> Result<&[i64]> {
    match parents.get(first..first + count) {
        Some(own) => Ok(own),
        None => Err(wrong_parents(rows, parents.len())),
    }
}

fn check_parents(parents: Option<&[i64]>, rows: i64) -> Result<()> {
    match parents {
        Some(parents) if parents.len() as i64 != rows => Err(wrong_parents(rows, parents.len())),
        _ => Ok(()),
    }
}

#[cold]
fn wrong_parents(rows: i64, parents: usize) -> ferrite_core::Error {
    ferrite_core::plain_error!(
        INTERNAL_ERROR,
        "Check failed: token_tree_parent_ptr.size() == token_tree_parent_ptr_offset ({} vs. {}) : Invalid token tree size. The sum \
         of \"append_lengths\" is {} while there are {} elements in \"token_tree_parent_ptr\".",
        parents,
        &rows,
        &rows,
        parents
    )
}

fn check_committed(is_committed: bool, id: i64) -> Result<()> {
    plain_ensure!(
        is_committed,
        INTERNAL_ERROR,
        "Check failed: (sequence->accepted_indices_committed) is false: The input batch does not form a tree, in which case the \
         sequences in the input batch are expected to have their accepted tokens token tree nodes committed. Please invoke \
         CommitAcceptedTokenTreeNodes for sequence {}",
        &id
    );
    Ok(())
}

/// Grows the sequences of a planned batch. Windows slide before pages are taken.
pub(super) fn grow(batch: &[Member], sequences: &mut Sequences, parents: Option<&[i64]>) {
    for member in batch.iter().filter(|member| member.growth.left != 0) {
        let (sequence, pool) = sequences.at_mut(member.entry as usize);
        member.growth.release_left(sequence, pool);
    }
    let mut rest = parents;
    for member in batch {
        let (sequence, pool) = sequences.at_mut(member.entry as usize);
        member.growth.apply(sequence, pool);
        if let Some((own, others)) =
            rest.and_then(|rest| rest.split_at_checked(member.count as usize))
        {
            sequence.tree.add(own);
            rest = Some(others);
        }
    }
}

/// Sizes of the arrays of a step.
pub(super) struct Sizes {
    pub(super) rows: usize,
    /// Number of entries of the prefix table.
    pub(super) prefixes: usize,
    pub(super) prefix_pages: usize,
    pub(super) pages: usize,
    pub(super) window_pages: usize,
    /// Number of nodes of token trees.
    pub(super) nodes: usize,
}

/// Returns the sizes of the arrays of a planned batch.
#[inline]
pub(super) fn sizes(
    batch: &[Member],
    groups: &[Group],
    config: &Config,
    sequences: &Sequences,
    appends_first: bool,
) -> Sizes {
    let mut sizes =
        Sizes { rows: 0, prefixes: 0, prefix_pages: 0, pages: 0, window_pages: 0, nodes: 0 };
    for member in batch {
        let sequence = sequences.at(member.entry as usize);
        let pages = if appends_first { member.growth.pages as usize } else { sequence.pages.len() };
        sizes.rows += member.count as usize;
        sizes.pages += pages - member.prefix as usize;
        sizes.nodes += sequence.tree.len() + member.count as usize;
        if config.has_layer_windows {
            let length = member.before + if appends_first { member.count } else { 0 };
            sizes.window_pages += LayerWindow::of(length, config).pages;
        }
    }
    let mut end = 0;
    for group in groups {
        sizes.prefixes += 1 + usize::from(group.first != end);
        sizes.prefix_pages += group.pages as usize;
        end = group.first + group.count;
    }
    sizes.prefixes += usize::from(end as usize != batch.len());
    sizes
}

/// The part of a sequence that a layer with a window sees.
pub(super) struct LayerWindow {
    /// Position of the first token.
    pub(super) first: i32,
    /// Slot of the first token in its page.
    pub(super) offset: i32,
    /// Number of pages, the last ones of the sequence.
    pub(super) pages: usize,
}

impl LayerWindow {
    /// Returns the window of a sequence of `length` tokens.
    pub(super) fn of(length: i32, config: &Config) -> LayerWindow {
        let first = (length - config.layer_window).max(0);
        let (offset, seen) = (first % config.page_size, length - first);
        let pages = if seen == 0 { 0 } else { (offset + seen).unsigned_abs() };
        LayerWindow {
            first,
            offset,
            pages: pages.div_ceil(config.page_size.unsigned_abs()) as usize,
        }
    }
}
