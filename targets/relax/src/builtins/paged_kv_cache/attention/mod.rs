//! Attention of multi-head layers, over the tokens of the step and over cached ones.
//!
//! | file | content |
//! |---|---|
//! | `kernel` | calls of the attention kernels |
//! | `operands` | checks of the tensors of a model |
//! | `latent` | attention of layers with compressed keys and values |
//!
//! A step that appends first has its tokens in the page tables, and attention is one kernel for
//! each table. In another step new tokens see each other in a first kernel, and cached tokens in a
//! kernel for each table, and their outputs are merged; new tokens are appended at the end.

mod kernel;
mod latent;
mod operands;

use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Tensor, plain_ensure};

use super::arity::wrong_count;
use super::cache::Cache;
use super::config::{Kind, RotaryMode};
use super::kernels::required;
use super::record::PagedCache;
use kernel::{Outputs, attend_cached, attend_new};
use operands::{check_tensor, first_rows};

pub(super) use latent::{append_latent, cross_attention, merge_outputs, self_attention};

/// Splits, rotates and appends fused queries, keys and values, and computes the attention of a
/// layer. The arguments are (layer, scale, fused values, output). Rows behind those of the step are
/// padding, and stay as they are.
pub(super) fn fused_attention(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, scale, fused, output] = args else { return Err(wrong_count(args)) };
    let (layer, scale) = (layer.get::<i64>()?, scale.get::<f64>()?);
    let (fused, output) = (operands::tensor(fused)?, operands::tensor(output)?);
    cache.with(|cache| {
        cache.prepare()?;
        let (layer, kind) = cache.config.layer(layer)?;
        check_fused(cache, kind, fused, output)?;
        let rows = cache.step.rows;
        let (mut fused_rows, mut output_rows) = (None, None);
        let fused = first_rows(fused, rows, &mut fused_rows)?;
        let output = first_rows(output, rows, &mut output_rows)?;
        run_fused(cache, layer, kind, scale, fused, output)
    })?;
    Ok(Any::NONE)
}

fn run_fused(
    cache: &Cache,
    layer: usize,
    kind: Kind,
    scale: f64,
    fused: &Tensor,
    output: &Tensor,
) -> Result<()> {
    use super::arrays::Name;
    let Cache { storage, kernels, step, config, .. } = cache;
    let [queries, keys, values] = storage.queries()?;
    let positions = step.arrays.get(Name::Positions)?;
    let rotation = match &config.rotary.factors {
        Some(factors) => factors.into(),
        None => i64::from(config.rotary.mode == RotaryMode::Normal).into(),
    };
    kernels.split.call_packed(&[
        fused.into(),
        positions.into(),
        queries.into(),
        keys.into(),
        values.into(),
        rotation,
    ])?;
    let append = || -> Result<()> {
        let (pages, places) = (&storage.pages[layer], step.arrays.get(Name::Places)?);
        required(&kernels.append, "f_transpose_append_mha")?.call_packed(&[
            pages.into(),
            keys.into(),
            values.into(),
            places.into(),
        ])?;
        Ok(())
    };
    if step.appends_first {
        append()?;
    }
    attend(cache, layer, kind, scale, [queries, keys, values], output)?;
    if !step.appends_first {
        append()?;
    }
    Ok(())
}

/// Computes attention to the new tokens and the cached ones.
fn attend(
    cache: &Cache,
    layer: usize,
    kind: Kind,
    scale: f64,
    [queries, keys, values]: [&Tensor; 3],
    output: &Tensor,
) -> Result<()> {
    let mut outputs = Outputs::new(output, cache.storage.sums()?);
    if !cache.step.appends_first {
        attend_new(cache, scale, [queries, keys, values], &outputs)?;
        outputs.has_values = true;
    }
    attend_cached(cache, layer, kind, scale, queries, &mut outputs)?;
    plain_ensure!(
        outputs.has_values,
        INTERNAL_ERROR,
        "Check failed: (self_attn_computed || cross_attn_computed) is false: Both self-attention and cross-attention are not computed."
    );
    Ok(())
}

fn check_fused(cache: &Cache, kind: Kind, fused: &Tensor, output: &Tensor) -> Result<()> {
    let config = &cache.config;
    plain_ensure!(
        kind != Kind::Latent,
        INTERNAL_ERROR,
        "Attention of fused queries, keys and values needs a layer of kind MHA"
    );
    let heads = config.query_heads + 2 * config.key_heads;
    check_tensor(config, "qkv_data", fused, &[heads, config.key_width])?;
    check_tensor(config, "o_data", output, &[config.query_heads, config.key_width])?;
    let (rows, outputs) = (operands::rows(fused), operands::rows(output));
    plain_ensure!(
        rows == outputs,
        INTERNAL_ERROR,
        "Check failed: o_data->shape[dim] == qkv_data->shape[dim] ({} vs. {}) : ",
        &outputs,
        &rows
    );
    plain_ensure!(
        cache.step.rows <= rows,
        INTERNAL_ERROR,
        "Check failed: total_seq_length <= qkv_data->shape[0] ({} vs. {}) : ",
        &cache.step.rows,
        &rows
    );
    Ok(())
}

/// Computes the attention of a layer that uses the keys and values of another layer. The arguments
/// are (layer of the keys, scale, queries, new keys, new values, output).
pub(super) fn shared_attention(cache: &PagedCache, args: &[AnyView<'_>]) -> Result<Any> {
    let [layer, scale, queries, keys, values, output] = args else {
        return Err(wrong_count(args));
    };
    let (layer, scale) = (layer.get::<i64>()?, scale.get::<f64>()?);
    let [queries, keys, values, output] = [
        operands::tensor(queries)?,
        operands::tensor(keys)?,
        operands::tensor(values)?,
        operands::tensor(output)?,
    ];
    cache.with(|cache| {
        cache.prepare()?;
        let (layer, kind) = cache.config.layer(layer)?;
        plain_ensure!(
            kind != Kind::Latent,
            INTERNAL_ERROR,
            "Check failed: (attn_kinds_[source_layer_id] == AttnKind::kMHA || attn_kinds_[source_layer_id] == AttnKind::kMHASliding) \
             is false: Querying K/V from another logical layer is only supported for MHA caches."
        );
        let (config, rows) = (&cache.config, cache.step.rows);
        for (name, tensor, heads, width) in [
            ("q_data", queries, config.query_heads, config.key_width),
            ("current_k_data", keys, config.key_heads, config.key_width),
            ("current_v_data", values, config.key_heads, config.value_width),
            ("o_data", output, config.query_heads, config.value_width),
        ] {
            check_tensor(config, name, tensor, &[heads, width])?;
            operands::check_rows(name, tensor, rows)?;
        }
        attend(cache, layer, kind, scale, [queries, keys, values], output)
    })?;
    Ok(Any::NONE)
}
