//! Calls of the attention kernels of multi-head layers.

use ferrite_core::error::Result;
use ferrite_core::{AnyView, Tensor};

use crate::builtins::paged_kv_cache::arrays::Name;
use crate::builtins::paged_kv_cache::cache::Cache;
use crate::builtins::paged_kv_cache::config::{Config, Kind, RotaryMode};
use crate::builtins::paged_kv_cache::kernels::required;

/// Rotary embeddings of layers with windows of their own.
const WINDOW_SCALE: f64 = 1.0;
const WINDOW_THETA: f64 = 10000.0;

/// Output of a layer, and its sums of weights, into which the outputs of all kernels are merged.
pub(super) struct Outputs<'a> {
    output: &'a Tensor,
    sums: &'a Tensor,
    /// Whether a kernel has written the output.
    pub(super) has_values: bool,
}

impl<'a> Outputs<'a> {
    /// Creates outputs that no kernel has written.
    #[inline]
    pub(super) fn new(output: &'a Tensor, sums: &'a Tensor) -> Outputs<'a> {
        Outputs { output, sums, has_values: false }
    }

    /// Calls a kernel with the tensors for its output and sums, and merges them if another kernel
    /// has written the output.
    #[inline]
    pub(super) fn collect(
        &mut self,
        cache: &Cache,
        kernel: impl FnOnce(AnyView<'_>, AnyView<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.has_values {
            self.has_values = true;
            return kernel(self.output.into(), self.sums.into());
        }
        let [output, sums] = cache.storage.merged()?;
        kernel(output.into(), sums.into())?;
        cache.kernels.merge.call_packed(&[
            self.output.into(),
            self.sums.into(),
            output.into(),
            sums.into(),
        ])?;
        Ok(())
    }
}

/// Last arguments of attention kernels: whether they rotate keys and queries, scale and theta of
/// the rotation, and the scale of the scores.
fn rotation<'a>(config: &Config, kind: Kind, scale: f64) -> [AnyView<'a>; 4] {
    let mode = i64::from(config.rotary.mode == RotaryMode::Inline);
    let (rotary_scale, theta) = match kind {
        Kind::Windowed => (WINDOW_SCALE, WINDOW_THETA),
        _ => (config.rotary.scale, config.rotary.theta),
    };
    [mode.into(), rotary_scale.into(), theta.into(), scale.into()]
}

/// Computes the attention of the new tokens to each other.
///
/// # Errors
/// InternalError if the model passed no kernel for it; errors of the kernel.
pub(super) fn attend_new(
    cache: &Cache,
    scale: f64,
    [queries, keys, values]: [&Tensor; 3],
    outputs: &Outputs<'_>,
) -> Result<()> {
    let [mode, rotary_scale, theta, scale] = rotation(&cache.config, Kind::Heads, scale);
    if cache.step.has_masks {
        let arrays = &cache.step.arrays;
        let (ends, positions) = (arrays.get(Name::Ends)?, arrays.get(Name::Positions)?);
        let kernel = required(&cache.kernels.tree_ragged, "f_attention_prefill_with_tree_mask_")?;
        let (mask_ends, masks) = (arrays.get(Name::MaskEnds)?, arrays.get(Name::Masks)?);
        kernel.call_packed(&[
            queries.into(),
            ends.into(),
            keys.into(),
            values.into(),
            ends.into(),
            positions.into(),
            mask_ends.into(),
            masks.into(),
            outputs.output.into(),
            outputs.sums.into(),
            mode,
            rotary_scale,
            theta,
            scale,
        ])?;
        return Ok(());
    }
    attend_ragged(cache, [queries, keys, values], [mode, rotary_scale, theta, scale], outputs)
}

/// Calls the kernel without masks for the attention of the new tokens to each other.
///
/// # Errors
/// InternalError if the model passed no such kernel; errors of the kernel.
pub(super) fn attend_ragged(
    cache: &Cache,
    [queries, keys, values]: [&Tensor; 3],
    [mode, rotary_scale, theta, scale]: [AnyView<'_>; 4],
    outputs: &Outputs<'_>,
) -> Result<()> {
    let arrays = &cache.step.arrays;
    let ends = arrays.get(Name::Ends)?;
    let kernel = required(&cache.kernels.ragged, "f_attention_prefill_ragged_")?;
    kernel.call_packed(&[
        queries.into(),
        ends.into(),
        keys.into(),
        values.into(),
        ends.into(),
        arrays.get(Name::Positions)?.into(),
        arrays.get(Name::NewOffsets)?.into(),
        outputs.output.into(),
        outputs.sums.into(),
        1i64.into(),
        mode,
        rotary_scale,
        theta,
        scale,
    ])?;
    Ok(())
}

/// A page table: the arrays of its entries.
struct Table<'a> {
    /// Running sums of the rows of each entry.
    ends: &'a Tensor,
    page_ends: &'a Tensor,
    pages: &'a Tensor,
    lengths: &'a Tensor,
    offsets: &'a Tensor,
    /// Whether the table has all rows of the step, one entry for each sequence.
    has_sequences: bool,
}

impl<'a> Table<'a> {
    /// Returns the table of shared prefixes; `None` if the step has none.
    fn of_prefixes(cache: &'a Cache) -> Result<Option<Table<'a>>> {
        let arrays = &cache.step.arrays;
        if !arrays.has(Name::PrefixPages) {
            return Ok(None);
        }
        Ok(Some(Table {
            ends: arrays.get(Name::PrefixEnds)?,
            page_ends: arrays.get(Name::PrefixPageEnds)?,
            pages: arrays.get(Name::PrefixPages)?,
            lengths: arrays.get(Name::PrefixLengths)?,
            offsets: arrays.get(Name::PrefixOffsets)?,
            has_sequences: false,
        }))
    }

    /// Returns the table of the sequences; `None` if nothing is cached.
    #[inline]
    fn of_sequences(cache: &'a Cache) -> Result<Option<Table<'a>>> {
        let arrays = &cache.step.arrays;
        if !arrays.has(Name::Pages) {
            return Ok(None);
        }
        Ok(Some(Table {
            ends: arrays.get(Name::Ends)?,
            page_ends: arrays.get(Name::PageEnds)?,
            pages: arrays.get(Name::Pages)?,
            lengths: arrays.get(Name::Lengths)?,
            offsets: arrays.get(Name::Offsets)?,
            has_sequences: true,
        }))
    }

    /// Returns the table of layers with windows; `None` if nothing is cached.
    fn of_windows(cache: &'a Cache) -> Result<Option<Table<'a>>> {
        let arrays = &cache.step.arrays;
        if !arrays.has(Name::WindowPages) {
            return Ok(None);
        }
        Ok(Some(Table {
            ends: arrays.get(Name::Ends)?,
            page_ends: arrays.get(Name::WindowPageEnds)?,
            pages: arrays.get(Name::WindowPages)?,
            lengths: arrays.get(Name::WindowLengths)?,
            offsets: arrays.get(Name::WindowOffsets)?,
            has_sequences: true,
        }))
    }
}

/// Computes the attention to cached tokens, and merges it into the outputs.
///
/// # Errors
/// InternalError if the model passed no kernel for it; errors of the kernels.
pub(super) fn attend_cached(
    cache: &Cache,
    layer: usize,
    kind: Kind,
    scale: f64,
    queries: &Tensor,
    outputs: &mut Outputs<'_>,
) -> Result<()> {
    let call = CachedCall { cache, layer, kind, scale, queries };
    if kind == Kind::Windowed {
        // New tokens were in a kernel of their own, if they are not in the table.
        let masks_new = i64::from(outputs.has_values);
        return match Table::of_windows(cache)? {
            Some(table) => call.run(&table, masks_new, outputs),
            None => Ok(()),
        };
    }
    for table in [Table::of_prefixes(cache)?, Table::of_sequences(cache)?].iter().flatten() {
        call.run(table, 0, outputs)?;
    }
    Ok(())
}

/// Attention of a layer to cached tokens.
struct CachedCall<'a> {
    cache: &'a Cache,
    layer: usize,
    kind: Kind,
    scale: f64,
    queries: &'a Tensor,
}

impl CachedCall<'_> {
    /// Calls the kernel for a table.
    #[inline]
    fn run(&self, table: &Table<'_>, causal: i64, outputs: &mut Outputs<'_>) -> Result<()> {
        let step = &self.cache.step;
        if step.has_masks && step.appends_first && table.has_sequences {
            outputs.collect(self.cache, |output, sums| self.run_tree(table, output, sums))
        } else if step.is_decode && table.has_sequences {
            outputs.collect(self.cache, |output, sums| self.run_decode(table, output, sums))
        } else {
            outputs
                .collect(self.cache, |output, sums| self.run_prefill(table, causal, output, sums))
        }
    }

    fn has_windows(&self) -> bool {
        self.cache.config.slides || self.kind == Kind::Windowed
    }

    #[inline]
    fn run_decode(&self, table: &Table<'_>, output: AnyView<'_>, sums: AnyView<'_>) -> Result<()> {
        let kernels = &self.cache.kernels;
        let kernel = match self.has_windows() {
            true => required(&kernels.window_decode, "f_attention_decode_sliding_window_")?,
            false => required(&kernels.decode, "f_attention_decode_")?,
        };
        let [mode, rotary_scale, theta, scale] =
            rotation(&self.cache.config, self.kind, self.scale);
        kernel.call_packed(&[
            self.queries.into(),
            (&self.cache.storage.pages[self.layer]).into(),
            table.page_ends.into(),
            table.pages.into(),
            table.lengths.into(),
            table.offsets.into(),
            self.cache.step.arrays.get(Name::Positions)?.into(),
            output,
            sums,
            mode,
            rotary_scale,
            theta,
            scale,
        ])?;
        Ok(())
    }

    fn run_prefill(
        &self,
        table: &Table<'_>,
        causal: i64,
        output: AnyView<'_>,
        sums: AnyView<'_>,
    ) -> Result<()> {
        let kernels = &self.cache.kernels;
        let kernel = match self.has_windows() {
            true => required(&kernels.window_prefill, "f_attention_prefill_sliding_window_")?,
            false => required(&kernels.prefill, "f_attention_prefill_")?,
        };
        let [mode, rotary_scale, theta, scale] =
            rotation(&self.cache.config, self.kind, self.scale);
        kernel.call_packed(&[
            self.queries.into(),
            table.ends.into(),
            (&self.cache.storage.pages[self.layer]).into(),
            table.page_ends.into(),
            table.pages.into(),
            table.lengths.into(),
            table.offsets.into(),
            self.cache.step.arrays.get(Name::Positions)?.into(),
            output,
            sums,
            causal.into(),
            mode,
            rotary_scale,
            theta,
            scale,
        ])?;
        Ok(())
    }

    fn run_tree(&self, table: &Table<'_>, output: AnyView<'_>, sums: AnyView<'_>) -> Result<()> {
        let (kernels, arrays) = (&self.cache.kernels, &self.cache.step.arrays);
        let kernel = required(&kernels.tree_paged, "f_attention_prefill_with_tree_mask_paged_kv_")?;
        let [mode, rotary_scale, theta, scale] =
            rotation(&self.cache.config, self.kind, self.scale);
        kernel.call_packed(&[
            self.queries.into(),
            table.ends.into(),
            (&self.cache.storage.pages[self.layer]).into(),
            table.page_ends.into(),
            table.pages.into(),
            table.lengths.into(),
            table.offsets.into(),
            arrays.get(Name::Positions)?.into(),
            output,
            sums,
            mode,
            rotary_scale,
            theta,
            scale,
            arrays.get(Name::MaskEnds)?.into(),
            arrays.get(Name::Masks)?.into(),
        ])?;
        Ok(())
    }
}
