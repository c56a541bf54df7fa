//! The step of a cache: a batch of sequences, the tokens that each appends, and the arrays that
//! describe them to kernels.
//!
//! A step is planned as a whole, with all memory that it needs, before anything changes: a step
//! that is refused leaves the cache and the step before as they were.
//!
//! | file | content |
//! |---|---|
//! | `batch` | [`Member`], a sequence of the batch; checks of the arguments |
//! | `prefix` | neighbours in the batch with a common prefix, which kernels read once |
//! | `tables` | contents of the arrays |

mod batch;
mod prefix;
mod tables;

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error};

use super::arrays::{Arrays, Layout, Name};
use super::config::{Config, RotaryMode};
use super::kernels::Kernels;
use super::sequences::{Sequences, full};
pub(super) use batch::Request;
use batch::{Group, Member, Summary};

/// The current step of a cache.
pub(super) struct Step {
    batch: Buffer<Member>,
    groups: Buffer<Group>,
    /// Batch and groups of a step that is being planned.
    planned: Buffer<Member>,
    planned_groups: Buffer<Group>,
    number: u32,
    /// Number of new tokens; 0 before the first step.
    pub(super) rows: i64,
    /// Whether keys and values are appended before attention, so that tables contain them.
    pub(super) appends_first: bool,
    /// Whether each sequence appends one token.
    pub(super) is_decode: bool,
    /// Whether kernels need the masks of token trees.
    pub(super) has_masks: bool,
    pub(super) arrays: Arrays,
}

impl Step {
    /// Creates the state before the first step.
    ///
    /// # Errors
    /// MemoryError; errors of the device.
    pub(super) fn new(config: &Config) -> Result<Step> {
        let sequences = config.sequences.min(1024) as usize;
        // Enough for decode steps of all sequences over all pages, within reason.
        let capacity = 16 * (sequences + 16) + (config.pages as usize).min(1 << 16);
        Ok(Step {
            batch: Buffer::try_with_capacity(sequences)?,
            groups: Buffer::new(),
            planned: Buffer::try_with_capacity(sequences)?,
            planned_groups: Buffer::new(),
            number: 0,
            rows: 0,
            appends_first: false,
            is_decode: false,
            has_masks: false,
            arrays: Arrays::new(config.device, capacity)?,
        })
    }

    /// Begins a step: counts its tokens, takes their pages and writes the arrays.
    ///
    /// # Errors
    /// InternalError for a sequence that does not exist or occurs twice, for tokens that do not fit
    /// a step or the free pages, and for trees that are not supported; RuntimeError while a
    /// function reads an array of the step before; MemoryError; errors of the device. The cache is
    /// then as it was.
    pub(super) fn begin(
        &mut self,
        config: &Config,
        kernels: &Kernels,
        sequences: &mut Sequences,
        request: Request<'_>,
    ) -> Result<()> {
        check_request(config, request)?;
        let summary = self.plan_batch(config, sequences, request)?;
        let only_decodes = summary.rows as usize == request.ids.len();
        let is_tree = request.parents.is_some();
        let appends_first = summary.has_pending_tree
            || only_decodes && !config.slides
            || is_tree && !summary.is_chain && kernels.tree_ragged.is_none();
        // Single tokens of a chain see all cached ones, and new tokens of a chain their
        // predecessors: kernels without masks serve both.
        let has_masks = is_tree && !(summary.is_chain && (only_decodes || !appends_first));
        let is_decode = only_decodes && !has_masks;
        self.plan_groups(config, sequences, is_decode)?;
        let layout = self.plan_arrays(config, sequences, appends_first, has_masks);
        if summary.taken_pages > sequences.pool.available() + summary.left_pages {
            return Err(full());
        }
        self.arrays.wait_for_readers()?;
        self.arrays.reserve(&layout)?;
        let block = self.arrays.block().clone();
        let guard = Arrays::write_guard(&block)?;

        core::mem::swap(&mut self.batch, &mut self.planned);
        core::mem::swap(&mut self.groups, &mut self.planned_groups);
        self.rows = i64::from(summary.rows);
        (self.appends_first, self.is_decode, self.has_masks) =
            (appends_first, is_decode, has_masks);
        let elements = self.arrays.begin(&layout);
        let mut tables = tables::Tables {
            config,
            batch: &self.batch,
            groups: &self.groups,
            layout: &layout,
            elements,
        };
        if !appends_first {
            tables.write(sequences);
        }
        batch::grow(&self.batch, sequences, request.parents);
        if appends_first {
            tables.write(sequences);
        }
        tables.write_new_tokens(sequences, is_tree);
        if has_masks {
            tables.write_masks(sequences);
        }
        drop(guard);
        Ok(())
    }

    /// Checks the batch. Writes it to `planned`.
    fn plan_batch(
        &mut self,
        config: &Config,
        sequences: &mut Sequences,
        request: Request<'_>,
    ) -> Result<Summary> {
        self.number = self.number.wrapping_add(1).max(1);
        self.planned.clear();
        batch::plan(&mut self.planned, self.number, config, sequences, request)
    }

    /// Finds the common prefixes of the planned batch.
    fn plan_groups(
        &mut self,
        config: &Config,
        sequences: &Sequences,
        is_decode: bool,
    ) -> Result<()> {
        self.planned_groups.clear();
        if config.slides || self.planned.len() < 2 {
            return Ok(());
        }
        prefix::find(&mut self.planned_groups, &mut self.planned, sequences, is_decode)
    }

    /// Returns the layout of the arrays of the planned batch.
    fn plan_arrays(
        &self,
        config: &Config,
        sequences: &Sequences,
        appends_first: bool,
        has_masks: bool,
    ) -> Layout {
        let sizes =
            batch::sizes(&self.planned, &self.planned_groups, config, sequences, appends_first);
        let (count, mut layout) = (self.planned.len(), Layout::new());
        layout.add(Name::Positions, sizes.rows);
        layout.add(Name::Ends, count + 1);
        layout.add(Name::NewOffsets, count);
        layout.add(Name::Places, sizes.rows);
        if !self.planned_groups.is_empty() {
            layout.add(Name::PrefixEnds, sizes.prefixes + 1);
            layout.add(Name::PrefixPageEnds, sizes.prefixes + 1);
            layout.add(Name::PrefixLengths, sizes.prefixes);
            layout.add(Name::PrefixOffsets, sizes.prefixes);
        }
        layout.add(Name::PageEnds, count + 1);
        match config.slides {
            true => layout.add_matrix(Name::Lengths, 3, count),
            false => layout.add(Name::Lengths, count),
        }
        layout.add(Name::Offsets, count);
        if config.has_layer_windows {
            layout.add(Name::WindowPageEnds, count + 1);
            layout.add_matrix(Name::WindowLengths, 3, count);
            layout.add(Name::WindowOffsets, count);
        }
        if has_masks {
            layout.add(Name::MaskEnds, count + 1);
            layout.add_matrix(Name::Masks, sizes.nodes, 2);
        }
        if !self.planned_groups.is_empty() {
            layout.add(Name::PrefixPages, sizes.prefix_pages);
        }
        if config.has_layer_windows {
            layout.add(Name::WindowPages, sizes.window_pages);
        }
        layout.add(Name::Pages, sizes.pages);
        layout
    }

    /// Checks that a step has begun, and sends its arrays.
    ///
    /// # Errors
    /// InternalError before the first step; MemoryError; errors of the device.
    #[inline]
    pub(super) fn prepare(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Err(no_step());
        }
        self.arrays.send()
    }
}

#[cold]
fn no_step() -> ferrite_core::Error {
    plain_error!(
        INTERNAL_ERROR,
        "The KV cache has no step: call `vm.builtin.kv_state_begin_forward` first"
    )
}

fn check_request(config: &Config, request: Request<'_>) -> Result<()> {
    let (ids, lengths) = (request.ids.len(), request.lengths.len());
    plain_ensure!(
        ids == lengths,
        INTERNAL_ERROR,
        "Check failed: seq_ids.size() == append_lengths.size() ({} vs. {}) : The seq_ids size ({}) and append_lengths size ({}) \
         mismatch.",
        ids,
        lengths,
        ids,
        lengths
    );
    plain_ensure!(ids != 0, INTERNAL_ERROR, "A step of the KV cache needs a sequence");
    if request.parents.is_some() {
        plain_ensure!(
            !config.kinds.contains(&super::config::Kind::Latent),
            INTERNAL_ERROR,
            "Check failed: (!opt_token_tree_parent_ptr.has_value()) is false: Tree attention is not supported yet for MLA"
        );
        plain_ensure!(
            !config.slides,
            INTERNAL_ERROR,
            "Check failed: (!support_sliding_window_) is false: Tree attention does not support sliding window."
        );
        plain_ensure!(
            config.rotary.mode != RotaryMode::Inline,
            INTERNAL_ERROR,
            "Check failed: (rope_mode_ != RoPEMode::kInline) is false: Tree attention does not support inline RoPE mode."
        );
    }
    Ok(())
}
