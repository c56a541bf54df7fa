//! Configuration of a cache: sizes, layers and rotary embeddings, read from the arguments of the
//! constructor.

use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{AnyView, Shape, Tensor, plain_bail, plain_ensure};

/// Window of layers that have one, unless the configuration has another.
const LAYER_WINDOW: i64 = 1024;

/// Message of the error for functions that transfer pages.
pub(super) const TRANSFER_IS_LACKING: &str =
    "Transfer of a KV cache between processes needs NVSHMEM, which this library does not support";

/// Attention of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Multi-head attention, with one key head for one or more query heads.
    Heads,
    /// Multi-head latent attention: compressed keys and values in one tensor.
    Latent,
    /// Multi-head attention to the last tokens of a window.
    Windowed,
}

impl Kind {
    /// Returns the name in the metadata of checkpoints.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Heads => "mha",
            Kind::Latent => "mla",
            Kind::Windowed => "mha_sliding",
        }
    }
}

/// Place where rotary embeddings are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RotaryMode {
    /// Nowhere.
    None,
    /// Before keys are cached.
    Normal,
    /// In the attention kernels: keys are cached without rotation.
    Inline,
}

impl RotaryMode {
    /// Returns the name in the metadata of checkpoints.
    pub(super) fn name(self) -> &'static str {
        match self {
            RotaryMode::None => "none",
            RotaryMode::Normal => "normal",
            RotaryMode::Inline => "inline",
        }
    }
}

/// Configuration of rotary embeddings.
pub(super) struct Rotary {
    pub(super) mode: RotaryMode,
    pub(super) scale: f64,
    pub(super) theta: f64,
    /// Extension factors of each frequency, for the kernel that rotates.
    pub(super) factors: Option<Tensor>,
}

/// Configuration of a cache.
pub(super) struct Config {
    /// Number of sequences to reserve memory for.
    pub(super) sequences: i64,
    /// Largest number of tokens of a step.
    pub(super) longest_step: i64,
    pub(super) page_size: i32,
    /// Number of pages.
    pub(super) pages: i32,
    /// Whether sequences may have sliding windows.
    pub(super) slides: bool,
    /// Window of layers of kind [`Kind::Windowed`].
    pub(super) layer_window: i32,
    /// Whether there are such layers.
    pub(super) has_layer_windows: bool,
    /// Number of the first layer of this pipeline stage.
    pub(super) first_layer: i64,
    /// Kinds of the layers of this stage.
    pub(super) kinds: Buffer<Kind>,
    pub(super) query_heads: i64,
    pub(super) key_heads: i64,
    /// Width of queries and keys of one head.
    pub(super) key_width: i64,
    /// Width of values and outputs of one head.
    pub(super) value_width: i64,
    pub(super) rotary: Rotary,
    /// Element type of keys and values.
    pub(super) dtype: DLDataType,
    pub(super) device: DLDevice,
}

impl Config {
    /// Reads the configuration from the first 13 arguments of the constructor.
    ///
    /// # Errors
    /// TypeError for other types; InternalError for values out of bounds or not supported;
    /// MemoryError.
    pub(super) fn from_arguments(args: &[AnyView<'_>]) -> Result<Config> {
        let [
            sizes,
            layers,
            query_heads,
            key_heads,
            key_width,
            value_width,
            kinds,
            transfer,
            mode,
            scale,
            theta,
            factors,
            prototype,
            ..,
        ] = args
        else {
            plain_bail!(
                INTERNAL_ERROR,
                "Invalid number of KV cache constructor args: {}",
                args.len()
            );
        };
        let (sizes, layers) = (sizes.get::<Shape>()?, layers.get::<Shape>()?);
        let (first_layer, kinds) = read_kinds(&layers, &kinds.get()?)?;
        let (slides, has_layer_windows) = (
            sizes.as_slice().get(4).is_some_and(|flag| *flag != 0),
            kinds.contains(&Kind::Windowed),
        );
        let prototype = prototype.get::<Tensor>()?;
        let mut config = Config {
            sequences: 0,
            longest_step: 0,
            page_size: 0,
            pages: 0,
            // Layers with windows of their own turn those of sequences off.
            slides: slides && !has_layer_windows,
            layer_window: 0,
            has_layer_windows,
            first_layer,
            kinds,
            query_heads: positive("num_qo_heads", query_heads.get()?)?,
            key_heads: positive("num_kv_heads", key_heads.get()?)?,
            key_width: positive("qk_head_dim", key_width.get()?)?,
            value_width: positive("v_head_dim", value_width.get()?)?,
            rotary: Rotary {
                mode: read_mode(mode.get()?, slides)?,
                scale: scale.get()?,
                theta: theta.get()?,
                factors: factors.try_get::<Tensor>()?,
            },
            dtype: prototype.dtype(),
            device: prototype.device(),
        };
        config.read_sizes(sizes.as_slice())?;
        config.check(transfer.get()?)?;
        Ok(config)
    }

    /// Reads the sizes: sequences, tokens, longest step, page size, whether windows slide, and the
    /// window of layers, which may be missing.
    fn read_sizes(&mut self, sizes: &[i64]) -> Result<()> {
        let ([sequences, tokens, step, page, slides] | [sequences, tokens, step, page, slides, _]) =
            *sizes
        else {
            plain_bail!(
                INTERNAL_ERROR,
                "Check failed: (cache_config.size() == 5 || cache_config.size() == 6) is false: KV cache config must contain five \
                 legacy fields and an optional per-layer sliding window size."
            );
        };
        let window = sizes.get(5).copied().unwrap_or(LAYER_WINDOW);
        plain_ensure!(
            window > 0,
            INTERNAL_ERROR,
            "Check failed: layer_sliding_window_size_ > 0 ({} vs. 0) : Per-layer sliding window size must be positive.",
            &window
        );
        let page = positive("page_size", page)?;
        self.sequences = positive("reserved_num_seqs", sequences)?;
        self.longest_step = positive("prefill_chunk_size", step)?;
        // Each sequence with a window may use two more pages.
        let more = if slides != 0 { self.sequences.saturating_mul(2) } else { 0 };
        let pages = positive("total_token_capacity", tokens)?.saturating_add(page - 1) / page;
        let pages = pages.saturating_add(1).saturating_add(more);
        plain_ensure!(
            pages.saturating_mul(page) <= i64::from(i32::MAX),
            INTERNAL_ERROR,
            "A KV cache of {} pages of {} tokens has more slots than int32 can number",
            &pages,
            &page
        );
        (self.page_size, self.pages) = (page as i32, pages as i32);
        self.layer_window = window.min(i64::from(i32::MAX)) as i32;
        Ok(())
    }

    fn check(&self, transfer: bool) -> Result<()> {
        if self.kinds.contains(&Kind::Latent) {
            plain_ensure!(
                !self.slides,
                INTERNAL_ERROR,
                "Check failed: (!support_sliding_window_) is false: Sliding window not supported yet for MLA"
            );
            plain_ensure!(
                !transfer,
                INTERNAL_ERROR,
                "Check failed: (!enable_kv_transfer) is false: KV transfer not supported yet for MLA"
            );
        }
        plain_ensure!(!transfer, INTERNAL_ERROR, "{}", TRANSFER_IS_LACKING);
        plain_ensure!(
            self.rotary.factors.is_none() || self.rotary.mode == RotaryMode::Normal,
            INTERNAL_ERROR,
            "Check failed: (rope_mode_ == RoPEMode::kNormal) is false: The RoPE mode must be normal to support RoPE extension factors."
        );
        Ok(())
    }

    /// Returns the number of layers of this stage.
    pub(super) fn layers(&self) -> i64 {
        self.kinds.len() as i64
    }

    /// Returns the index in this stage of a layer, and its kind.
    ///
    /// # Errors
    /// InternalError if the stage has no such layer.
    #[inline]
    pub(super) fn layer(&self, number: i64) -> Result<(usize, Kind)> {
        let local = number.wrapping_sub(self.first_layer);
        let found = usize::try_from(local).ok().and_then(|at| Some((at, *self.kinds.get(at)?)));
        found.ok_or_else(|| self.no_layer(local))
    }

    #[cold]
    fn no_layer(&self, local: i64) -> ferrite_core::Error {
        if local < 0 {
            return ferrite_core::plain_error!(
                INTERNAL_ERROR,
                "Check failed: local_layer_id >= 0 ({} vs. 0) : ",
                &local
            );
        }
        ferrite_core::plain_error!(
            INTERNAL_ERROR,
            "Check failed: local_layer_id < num_layers_ ({} vs. {}) : ",
            &local,
            &self.layers()
        )
    }
}

/// Returns the number of the first layer of the stage, and the kinds of its layers. `layers` has
/// the first layer of each stage and the end of the last one; there is one stage.
fn read_kinds(layers: &Shape, kinds: &Shape) -> Result<(i64, Buffer<Kind>)> {
    let [first, end] = *layers.as_slice() else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: layer_indptr_tuple.size() == num_groups + 1 ({} vs. 2) : ",
            layers.as_slice().len()
        );
    };
    let range = usize::try_from(first).ok().zip(usize::try_from(end).ok());
    let own = range.and_then(|(first, end)| kinds.as_slice().get(first..end));
    let Some(own) = own else {
        plain_bail!(
            INTERNAL_ERROR,
            "A KV cache of the layers from {} to {} needs their kinds, but there are {}",
            &first,
            &end,
            kinds.as_slice().len()
        );
    };
    let mut all = Buffer::try_with_capacity(own.len())?;
    for kind in own {
        all.try_push(match *kind {
            0 => Kind::Heads,
            1 => Kind::Latent,
            3 => Kind::Windowed,
            2 => plain_bail!(INTERNAL_ERROR, "Linear attention is not supported"),
            other => plain_bail!(
                INTERNAL_ERROR,
                "Check failed: (false) is false: Unknown attention kind: {}",
                &other
            ),
        })?;
    }
    Ok((first, all))
}

/// Returns the mode of rotary embeddings. Windows need keys without rotation, since the positions
/// of cached tokens change.
fn read_mode(mode: i64, slides: bool) -> Result<RotaryMode> {
    match mode {
        0 => Ok(RotaryMode::None),
        1 | 2 if slides => Ok(RotaryMode::Inline),
        1 => Ok(RotaryMode::Normal),
        2 => Ok(RotaryMode::Inline),
        _ => plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (false) is false: Unknown RoPE mode: {}",
            &mode
        ),
    }
}

fn positive(name: &'static str, value: i64) -> Result<i64> {
    plain_ensure!(
        value > 0 && value <= i64::from(i32::MAX),
        INTERNAL_ERROR,
        "{} of a KV cache must be positive and an int32, but is {}",
        name,
        &value
    );
    Ok(value)
}
