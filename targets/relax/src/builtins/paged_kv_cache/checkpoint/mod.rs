//! Checkpoints: the cached values of sequence 0, as metadata and one tensor for each layer.
//!
//! | file | content |
//! |---|---|
//! | `layout` | fields that a cache and a checkpoint must have in common, and their hash |
//! | `metadata` | metadata as JSON |
//! | `check` | comparison of the metadata of a checkpoint with a cache |
//! | `groups` | copies between pages and the tensor of a layer |

mod check;
mod groups;
mod layout;
mod metadata;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, String, Tensor, plain_ensure};

use super::arity::wrong_count;
use super::cache::{Cache, Import};
use super::config::{Config, Kind};
use super::record::PagedCache;
use super::sequence::Sequence;
use super::sequences::Sequences;

/// Returns the metadata of a sequence as JSON. The argument is its id, 0.
pub(super) fn get_metadata(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id] = args else { return Err(wrong_count(args)) };
    let id = id.get()?;
    cache.with(|cache| {
        let sequence = exportable(cache, id)?;
        metadata::of_sequence(&cache.config, id, sequence).map(Any::from)
    })
}

/// Returns the hash of the fields that a cache and a checkpoint must have in common.
pub(super) fn get_layout_hash(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [] = args else { return Err(wrong_count(args)) };
    cache.with(|cache| {
        check_layout(&cache.config)?;
        layout::hash(&cache.config).map(Any::from)
    })
}

/// Copies the pages of a layer into a tensor. The arguments are (sequence, layer, tensor).
pub(super) fn export_group(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, group, target] = args else { return Err(wrong_count(args)) };
    let (id, group, target) = (id.get()?, group.get()?, target.get::<Tensor>()?);
    cache.with(|cache| {
        let sequence = exportable(cache, id)?;
        let layer = check_group(&cache.config, "export", group)?;
        groups::check_tensor(&cache.config, "ExportPageGroup", &target, sequence)?;
        groups::export_pages(&cache.config, &cache.storage.pages[layer], sequence, &target)
    })?;
    Ok(Any::NONE)
}

/// Begins an import: removes all sequences, and adds the sequence of a checkpoint. The arguments
/// are (sequence, metadata).
pub(super) fn prepare_import(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, metadata] = args else { return Err(wrong_count(args)) };
    let (id, metadata) = (id.get::<i64>()?, metadata.get::<String>()?);
    cache.with(|cache| {
        check_layout(&cache.config)?;
        plain_ensure!(
            id == 0,
            INTERNAL_ERROR,
            "Check failed: seq_id == 0 ({} vs. 0) : PagedAttentionKVCache checkpoint import only supports sequence id 0, got {}.",
            &id,
            &id
        );
        let length = check::check_metadata(&cache.config, metadata.as_bytes())?;
        let config = &cache.config;
        let mut imported = Buffer::new();
        imported.try_resize(config.kinds.len(), false)?;
        let reserved = config.sequences.min(1024) as usize;
        let mut sequences = Sequences::new(reserved, config.pages, config.page_size)?;
        let entry = sequences.add(id)?;
        let (sequence, pool) = sequences.at_mut(entry);
        sequence.fill(pool, config.page_size, length)?;
        cache.sequences = sequences;
        cache.import = Some(Import { imported });
        Ok(())
    })?;
    Ok(Any::NONE)
}

/// Copies a tensor into the pages of a layer. The arguments are (sequence, layer, tensor).
pub(super) fn import_group(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, group, source] = args else { return Err(wrong_count(args)) };
    let (id, group, source) = (id.get()?, group.get()?, source.get::<Tensor>()?);
    cache.with(|cache| {
        check_layout(&cache.config)?;
        check_importing(cache)?;
        let sequence = committed(cache, id)?;
        let layer = check_group(&cache.config, "import", group)?;
        let imported = cache.import.as_ref().and_then(|import| import.imported.get(layer));
        plain_ensure!(
            imported == Some(&false),
            INTERNAL_ERROR,
            "Check failed: (!checkpoint_imported_groups_[group_id]) is false: PagedAttentionKVCache checkpoint group {} was already \
             imported.",
            &group
        );
        groups::check_tensor(&cache.config, "ImportPageGroup", &source, sequence)?;
        groups::import_pages(&cache.config, &source, sequence, &cache.storage.pages[layer])?;
        if let Some(import) = &mut cache.import {
            import.imported.as_mut_slice()[layer] = true;
        }
        Ok(())
    })?;
    Ok(Any::NONE)
}

/// Ends an import, for which the tensors of all layers were imported. The argument is the sequence.
pub(super) fn finish_import(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id] = args else { return Err(wrong_count(args)) };
    let id = id.get()?;
    cache.with(|cache| {
        check_layout(&cache.config)?;
        check_importing(cache)?;
        committed(cache, id)?;
        let imported = cache.import.iter().flat_map(|import| import.imported.iter());
        for (group, is_imported) in imported.enumerate() {
            plain_ensure!(
                *is_imported,
                INTERNAL_ERROR,
                "Check failed: (checkpoint_imported_groups_[group_id]) is false: PagedAttentionKVCache checkpoint import is missing \
                 group {}.",
                group
            );
        }
        cache.import = None;
        Ok(())
    })?;
    Ok(Any::NONE)
}

/// Checks that caches of this configuration have checkpoints.
fn check_layout(config: &Config) -> Result<()> {
    plain_ensure!(
        config.kinds.iter().all(|kind| *kind == Kind::Heads),
        INTERNAL_ERROR,
        "Check failed: (attn_kind == AttnKind::kMHA) is false: PagedAttentionKVCache checkpointing only supports full-context MHA/GQA \
         layers."
    );
    plain_ensure!(
        config.key_width == config.value_width,
        INTERNAL_ERROR,
        "Check failed: qk_head_dim_ == v_head_dim_ ({} vs. {}) : PagedAttentionKVCache checkpointing requires qk_head_dim to equal \
         v_head_dim.",
        &config.key_width,
        &config.value_width
    );
    plain_ensure!(
        !config.slides,
        INTERNAL_ERROR,
        "Check failed: (!support_sliding_window_ && !support_layer_sliding_window_) is false: PagedAttentionKVCache checkpointing \
         does not support sliding-window cache layouts."
    );
    plain_ensure!(
        config.rotary.factors.is_none(),
        INTERNAL_ERROR,
        "Check failed: (!rope_ext_factors_.has_value()) is false: PagedAttentionKVCache checkpointing does not support RoPE \
         extension factors."
    );
    Ok(())
}

fn check_importing(cache: &Cache) -> Result<()> {
    plain_ensure!(
        cache.import.is_some(),
        INTERNAL_ERROR,
        "Check failed: (checkpoint_import_in_progress_) is false: PagedAttentionKVCache checkpoint import has not been prepared."
    );
    Ok(())
}

/// Returns the sequence of a checkpoint, of a cache that is not importing.
fn exportable(cache: &Cache, id: i64) -> Result<&Sequence> {
    check_layout(&cache.config)?;
    plain_ensure!(
        cache.import.is_none(),
        INTERNAL_ERROR,
        "Check failed: (!checkpoint_import_in_progress_) is false: PagedAttentionKVCache checkpoint import must be finished before \
         exporting a checkpoint."
    );
    committed(cache, id)
}

/// Returns the sequence of a checkpoint, sequence 0, whose tokens are a chain.
fn committed(cache: &Cache, id: i64) -> Result<&Sequence> {
    plain_ensure!(
        id == 0,
        INTERNAL_ERROR,
        "Check failed: seq_id == 0 ({} vs. 0) : PagedAttentionKVCache checkpointing only supports sequence id 0, got {}.",
        &id,
        &id
    );
    let sequence = cache.sequences.get(id)?;
    plain_ensure!(
        sequence.tree.is_committed(),
        INTERNAL_ERROR,
        "Check failed: (seq.accepted_indices_committed && seq.is_chain) is false: PagedAttentionKVCache checkpointing requires \
         committed token-chain state."
    );
    Ok(sequence)
}

/// Returns the layer of a group.
fn check_group(config: &Config, what: &'static str, group: i64) -> Result<usize> {
    plain_ensure!(
        group >= 0,
        INTERNAL_ERROR,
        "Check failed: group_id >= 0 ({} vs. 0) : PagedAttentionKVCache checkpoint {} got invalid group id {}.",
        &group,
        what,
        &group
    );
    plain_ensure!(
        group < config.layers(),
        INTERNAL_ERROR,
        "Check failed: group_id < num_layers_ ({} vs. {}) : PagedAttentionKVCache checkpoint {} got invalid group id {}, but only {} \
         groups are available.",
        &group,
        &config.layers(),
        what,
        &group,
        &config.layers()
    );
    Ok(group as usize)
}
