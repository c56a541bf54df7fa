//! Attention of layers with compressed keys and values (MLA), whose parts the model combines: among
//! new tokens with full heads, to cached tokens in compressed form, and a merge of both.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::error::Result;
use ferrite_core::tensor::Element;
use ferrite_core::{Any, AnyView, Tensor, plain_bail, plain_ensure};

use super::kernel::{Outputs, attend_cached, attend_new, attend_ragged};
use super::operands::{self, check_rows, check_tensor};
use crate::builtins::paged_kv_cache::arity::wrong_count;
use crate::builtins::paged_kv_cache::arrays::Name;
use crate::builtins::paged_kv_cache::cache::Cache;
use crate::builtins::paged_kv_cache::config::{Config, Kind};
use crate::builtins::paged_kv_cache::kernels::required;
use crate::builtins::paged_kv_cache::record::PagedCache;

/// Appends compressed keys and values of the new tokens. The arguments are (layer, rows). Returns
/// the cache.
pub(in super::super) fn append_latent(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, rows] = args else { return Err(wrong_count(args)) };
    let (layer, rows) = (layer.get::<i64>()?, operands::tensor(rows)?);
    cache.with(|cache| {
        cache.prepare()?;
        let (layer, kind) = cache.config.layer(layer)?;
        plain_ensure!(
            kind == Kind::Latent,
            INTERNAL_ERROR,
            "Check failed: (attn_kinds_[layer_id] == AttnKind::kMLA) is false: "
        );
        check_tensor(&cache.config, "kv_data", rows, &[cache.config.key_width])?;
        check_rows("kv_data", rows, cache.step.rows)?;
        let kernel = required(&cache.kernels.append_latent, "f_transpose_append_mla")?;
        let (pages, places) = (&cache.storage.pages[layer], cache.step.arrays.get(Name::Places)?);
        kernel.call_packed(&[pages.into(), rows.into(), places.into()]).map(drop)
    })?;
    Ok(cache.clone().into())
}

/// Computes the attention of the new tokens to each other. The arguments are (layer, scale,
/// queries, keys, values, output, sums).
pub(in super::super) fn self_attention(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, scale, queries, keys, values, output, sums] = args else {
        return Err(wrong_count(args));
    };
    let (layer, scale) = (layer.get::<i64>()?, scale.get::<f64>()?);
    let [queries, keys, values, output, sums] = [
        operands::tensor(queries)?,
        operands::tensor(keys)?,
        operands::tensor(values)?,
        operands::tensor(output)?,
        operands::tensor(sums)?,
    ];
    cache.with(|cache| {
        cache.prepare()?;
        let (_, kind) = cache.config.layer(layer)?;
        for (name, tensor) in
            [("q_data", queries), ("k_data", keys), ("v_data", values), ("o_data", output)]
        {
            // The model chooses heads and widths.
            let rest = tensor.shape().get(1..).filter(|rest| rest.len() == 2);
            check_tensor(&cache.config, name, tensor, rest.unwrap_or(&[-1, -1]))?;
            check_rows(name, tensor, cache.step.rows)?;
        }
        check_sums(&cache.config, sums, cache.step.rows)?;
        let outputs = Outputs::new(output, sums);
        match kind {
            // The model has rotated queries and keys.
            Kind::Latent => {
                let rotary = &cache.config.rotary;
                let rotation =
                    [0i64.into(), rotary.scale.into(), rotary.theta.into(), scale.into()];
                attend_ragged(cache, [queries, keys, values], rotation, &outputs)
            }
            _ => attend_new(cache, scale, [queries, keys, values], &outputs),
        }
    })?;
    Ok(Any::NONE)
}

/// Computes the attention to cached tokens. Writes nothing if there are none. The arguments are
/// (layer, scale, queries, output, sums).
pub(in super::super) fn cross_attention(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, scale, queries, output, sums] = args else { return Err(wrong_count(args)) };
    let (layer, scale) = (layer.get::<i64>()?, scale.get::<f64>()?);
    let [queries, output, sums] =
        [operands::tensor(queries)?, operands::tensor(output)?, operands::tensor(sums)?];
    cache.with(|cache| {
        cache.prepare()?;
        let (layer, kind) = cache.config.layer(layer)?;
        let (config, rows) = (&cache.config, cache.step.rows);
        check_tensor(config, "q_data", queries, &[config.query_heads, config.key_width])?;
        check_tensor(config, "o_data", output, &[config.query_heads, config.value_width])?;
        check_rows("q_data", queries, rows)?;
        check_rows("o_data", output, rows)?;
        check_sums(config, sums, rows)?;
        let mut outputs = Outputs::new(output, sums);
        match kind {
            Kind::Latent => attend_cached_latent(cache, layer, scale, queries, &mut outputs),
            _ => attend_cached(cache, layer, kind, scale, queries, &mut outputs),
        }
    })?;
    Ok(Any::NONE)
}

/// Calls the kernel for compressed keys and values for each table.
fn attend_cached_latent(
    cache: &Cache,
    layer: usize,
    scale: f64,
    queries: &Tensor,
    outputs: &mut Outputs<'_>,
) -> Result<()> {
    use Name::{
        Ends, Lengths, PageEnds, Pages, PrefixEnds, PrefixLengths, PrefixPageEnds, PrefixPages,
    };
    let arrays = &cache.step.arrays;
    for [ends, page_ends, pages, lengths] in
        [[PrefixEnds, PrefixPageEnds, PrefixPages, PrefixLengths], [Ends, PageEnds, Pages, Lengths]]
    {
        if !arrays.has(pages) {
            continue;
        }
        let kernel = required(&cache.kernels.latent, "f_mla_prefill_")?;
        let [ends, page_ends, pages, lengths] =
            [arrays.get(ends)?, arrays.get(page_ends)?, arrays.get(pages)?, arrays.get(lengths)?];
        outputs.collect(cache, |output, sums| {
            let args = [
                queries.into(),
                ends.into(),
                (&cache.storage.pages[layer]).into(),
                page_ends.into(),
                pages.into(),
                lengths.into(),
                output,
                sums,
                0i64.into(),
                scale.into(),
            ];
            kernel.call_packed(&args).map(drop)
        })?;
    }
    Ok(())
}

/// Checks a tensor of sums of weights: float32, (rows, heads), compact.
fn check_sums(config: &Config, sums: &Tensor, rows: i64) -> Result<()> {
    let device = sums.device();
    plain_ensure!(
        sums.dtype() == f32::DTYPE
            && sums.shape() == [rows, config.query_heads]
            && (device.device_type, device.device_id)
                == (config.device.device_type, config.device.device_id)
            && sums.is_contiguous(),
        INTERNAL_ERROR,
        "lse_data must be compact, float32, on the device of the KV cache, and have the shape ({}, {})",
        &rows,
        &config.query_heads
    );
    Ok(())
}

/// Merges the second output and its sums into the first. The arguments are (output, sums, other
/// output, other sums). Returns the first two.
pub(in super::super) fn merge_outputs(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [output, sums, ..] = args else { return Err(wrong_count(args)) };
    if args.len() != 4 {
        return Err(wrong_count(args));
    }
    for tensor in args {
        operands::tensor(tensor)?;
    }
    cache.with(|cache| match &cache.kernels.latent_merge {
        Some(kernel) => kernel.call_packed(args).map(drop),
        None => plain_bail!(
            INTERNAL_ERROR,
            "Check failed: f_merge_inplace_.size() >= 2 (1 vs. 2) : The general attention merge function is not defined."
        ),
    })?;
    Ok(ArrayObject::from_views(&[*output, *sums])?.into())
}
