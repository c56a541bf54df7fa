//! Cached keys and values of a sequence, for tests.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Tensor, plain_ensure};

use super::arity::wrong_count;
use super::cache::Cache;
use super::config::Kind;
use super::device_array::vector;
use super::record::PagedCache;

/// Copies keys and values of all layers into tensors of the shape (layers, tokens, key heads,
/// width). The arguments are (sequence, first position, end, keys, values).
pub(super) fn get_keys_and_values(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, start, end, keys, values] = args else { return Err(wrong_count(args)) };
    let (keys, values) = (keys.get::<Tensor>()?, values.get::<Tensor>()?);
    let range = Range { id: id.get()?, start: start.get()?, end: end.get()? };
    cache.with(|cache| {
        let config = &cache.config;
        let extents = [config.key_heads, config.key_width];
        let places = range.places(cache)?;
        check(cache, &range, &keys, &extents)?;
        check(cache, &range, &values, &extents)?;
        for (layer, pages) in cache.storage.pages.iter().enumerate() {
            plain_ensure!(
                config.kinds[layer] != Kind::Latent,
                INTERNAL_ERROR,
                "Check failed: (attn_kinds_[layer_id] == AttnKind::kMHA) is false: Only MHA is supported for DebugGetKV"
            );
            cache.kernels.debug_get.call_packed(&[
                pages.into(),
                (&places).into(),
                (&keys).into(),
                (&values).into(),
                (layer as i64).into(),
            ])?;
        }
        Ok(())
    })?;
    Ok(Any::NONE)
}

/// Copies compressed keys and values of all layers into a tensor of the shape (layers, tokens,
/// width). The arguments are (sequence, first position, end, tensor).
pub(super) fn get_latent(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [id, start, end, rows] = args else { return Err(wrong_count(args)) };
    let rows = rows.get::<Tensor>()?;
    let range = Range { id: id.get()?, start: start.get()?, end: end.get()? };
    cache.with(|cache| {
        let places = range.places(cache)?;
        check(cache, &range, &rows, &[cache.config.key_width])?;
        for (layer, pages) in cache.storage.pages.iter().enumerate() {
            plain_ensure!(
                cache.config.kinds[layer] == Kind::Latent,
                INTERNAL_ERROR,
                "Check failed: (attn_kinds_[layer_id] == AttnKind::kMLA) is false: Only MHA is supported for DebugGetKVMLA"
            );
            cache.kernels.debug_get.call_packed(&[
                pages.into(),
                (&places).into(),
                (&rows).into(),
                (layer as i64).into(),
            ])?;
        }
        Ok(())
    })?;
    Ok(Any::NONE)
}

/// Positions of a sequence.
struct Range {
    id: i64,
    start: i64,
    end: i64,
}

impl Range {
    /// Returns the places of the positions in the pages, on the device.
    fn places(&self, cache: &Cache) -> Result<Tensor> {
        let (sequence, Range { start, end, .. }) = (cache.sequences.get(self.id)?, self);
        plain_ensure!(
            *start >= 0,
            INTERNAL_ERROR,
            "Check failed: start_pos >= 0 ({} vs. 0) : DebugGetKV does not accept negative start_pos {}",
            start,
            start
        );
        let length = i64::from(sequence.length);
        plain_ensure!(
            *end <= length,
            INTERNAL_ERROR,
            "Check failed: end_pos <= seq.seq_length ({} vs. {}) : DebugGetKV does not accept out-of-range end_pos",
            end,
            &length
        );
        plain_ensure!(
            start < end,
            INTERNAL_ERROR,
            "Check failed: start_pos < end_pos ({} vs. {}) : DebugGetKV does not accept \"start_pos >= end_pos\"",
            start,
            end
        );
        let mut places = Buffer::try_with_capacity((end - start) as usize)?;
        for position in *start..*end {
            places.try_push(sequence.place(position as i32, cache.config.page_size))?;
        }
        vector(&places, cache.config.device)
    }
}

fn check(cache: &Cache, range: &Range, tensor: &Tensor, extents: &[i64]) -> Result<()> {
    let (device, own) = (tensor.device(), cache.config.device);
    let is_expected = tensor.shape().split_at_checked(2).is_some_and(|(first, rest)| {
        first == [cache.config.layers(), range.end - range.start] && rest == extents
    });
    plain_ensure!(
        is_expected
            && tensor.dtype() == cache.config.dtype
            && (device.device_type, device.device_id) == (own.device_type, own.device_id)
            && tensor.is_contiguous(),
        INTERNAL_ERROR,
        "DebugGetKV expects compact tensors on the device and of the element type of the KV cache, in layout (num_layers, seq_length, \
         num_kv_heads, qk_head_dim), or without heads for MLA"
    );
    Ok(())
}
