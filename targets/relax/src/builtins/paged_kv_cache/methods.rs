//! Sequences and steps of a cache: `vm.builtin.kv_state_*`, and queries.

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Shape, plain_bail, plain_ensure};

use super::arity::wrong_count;
use super::arrays::Name;
use super::cache::Cache;
use super::config::TRANSFER_IS_LACKING;
use super::record::PagedCache;
use super::step::Request;
use crate::builtins::arguments::borrowed;
use crate::builtins::integer;

/// Removes all sequences.
pub(in super::super) fn clear(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    cache.with(|cache| {
        cache.clear();
        Ok(Any::NONE)
    })
}

/// Adds an empty sequence. The argument is its id.
pub(in super::super) fn add_sequence(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id] = args else { return Err(wrong_count(args)) };
    let id = id.get()?;
    cache.with(|cache| cache.sequences.add(id).map(|_| Any::NONE))
}

/// Removes a sequence. The argument is its id.
pub(in super::super) fn remove_sequence(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id] = args else { return Err(wrong_count(args)) };
    let id = id.get()?;
    cache.with(|cache| cache.sequences.remove(id).map(|()| Any::NONE))
}

/// Adds a sequence with the first tokens of another one. The arguments are (sequence, new
/// sequence[, number of tokens, -1 for all]).
pub(in super::super) fn fork_sequence(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [parent, child, position] = args else { return Err(wrong_count(args)) };
    let (parent, child, position) = (parent.get()?, child.get()?, position.get()?);
    cache.with(|cache| cache.fork(parent, child, position).map(|()| Any::NONE))
}

/// Removes the last tokens of a sequence. The arguments are (sequence, number of tokens).
pub(in super::super) fn pop_tokens(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, count] = args else { return Err(wrong_count(args)) };
    let (id, count) = (integer(id)?, integer(count)?);
    cache.with(|cache| cache.shorten(id, count).map(|()| Any::NONE))
}

/// Begins a step. The arguments are (sequences, number of new tokens of each[, parents of the
/// tokens in token trees]).
pub(in super::super) fn begin_forward(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let ([ids, lengths] | [ids, lengths, _]) = args else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (args.size() == 3 || args.size() == 4) is false: KVState BeginForward only accepts 3 or 4 arguments"
        );
    };
    let parents = match args.get(2) {
        Some(parents) if !parents.is_none() => Some(parents.get::<Shape>()?),
        _ => None,
    };
    let (ids, lengths) = (borrowed::<Shape>(ids)?, borrowed::<Shape>(lengths)?);
    let request = Request {
        ids: ids.as_slice(),
        lengths: lengths.as_slice(),
        parents: parents.as_ref().map(Shape::as_slice),
    };
    cache.with(|cache| cache.begin(request).map(|()| Any::NONE))
}

/// Ends a step. Nothing is left to do.
pub(in super::super) fn end_forward(_cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    Ok(Any::NONE)
}

/// Returns the positions of the new tokens of the step, an int32 tensor on the device.
pub(super) fn query_positions(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    cache.with(|cache| {
        cache.step.prepare()?;
        cache.step.arrays.get(Name::Positions).map(|positions| positions.clone().into())
    })
}

/// Returns whether the cache has no sequence and all pages are free.
pub(super) fn is_empty(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    query(cache, args, |cache| Any::from(cache.is_empty()))
}

/// Returns the number of free pages.
pub(super) fn available_pages(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    query(cache, args, |cache| Any::from(cache.sequences.pool.available() as i64))
}

/// Returns the sum of the lengths of all sequences. Tokens that sequences share count for each.
pub(super) fn total_length(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    query(cache, args, |cache| Any::from(cache.sequences.total_length()))
}

fn query(cache: &PagedCache, args: &[AnyView<'_>], read: fn(&Cache) -> Any) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    cache.with(|cache| Ok(read(cache)))
}

/// Returns the number of cached tokens of a sequence. The argument is its id.
pub(super) fn sequence_length(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id] = args else { return Err(wrong_count(args)) };
    let id = id.get()?;
    cache.with(|cache| {
        plain_ensure!(
            cache.import.is_none(),
            INTERNAL_ERROR,
            "Check failed: (!checkpoint_import_in_progress_) is false: PagedAttentionKVCache sequence length is unavailable until \
             checkpoint import is finished."
        );
        cache.sequences.get(id).map(|sequence| i64::from(sequence.length).into())
    })
}

/// Gives a sequence a sliding window. The arguments are (sequence, size of the window, number of
/// first tokens that stay in it).
pub(super) fn set_window(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, size, sink] = args else { return Err(wrong_count(args)) };
    let (id, size, sink) = (id.get::<i64>()?, size.get::<i64>()?, sink.get::<i64>()?);
    cache.with(|cache| {
        plain_ensure!(
            cache.config.slides || cache.config.has_layer_windows,
            INTERNAL_ERROR,
            "Check failed: (support_sliding_window_ || support_layer_sliding_window_) is false: The KV cache does not support \
             sliding window."
        );
        let entry = cache.sequences.find(id)?;
        cache.sequences.at_mut(entry).0.set_window(size, sink).map(|()| Any::NONE)
    })
}

/// Refuses to prepare a cache as a receiver or a sender of pages to another process, which needs
/// NVSHMEM.
///
/// # Errors
/// InternalError.
pub(super) fn refuse_transfer(_cache: &PagedCache, _args: &[AnyView<'_>]) -> Result<Any> {
    plain_bail!(INTERNAL_ERROR, "{}", TRANSFER_IS_LACKING)
}
