//! The cache: configuration, kernels, memory, sequences and the step.

use ferrite_core::AnyView;
use ferrite_core::error::Result;
use ferrite_core::plain_ensure;
use ferrite_core::platform::memory::Buffer;

use super::config::Config;
use super::kernels::Kernels;
use super::sequences::Sequences;
use super::step::{Request, Step};
use super::storage::Storage;

/// A paged key-value cache.
pub(super) struct Cache {
    pub(super) config: Config,
    pub(super) kernels: Kernels,
    pub(super) storage: Storage,
    pub(super) sequences: Sequences,
    pub(super) step: Step,
    /// Checkpoint that is being imported.
    pub(super) import: Option<Import>,
}

/// A checkpoint that is being imported.
pub(super) struct Import {
    /// Whether the tensor of each layer was imported.
    pub(super) imported: Buffer<bool>,
}

impl Cache {
    /// Creates a cache from the arguments of the constructor.
    ///
    /// # Errors
    /// InternalError for another number of arguments and for values that are not supported;
    /// TypeError; MemoryError; errors of the device.
    pub(super) fn from_arguments(args: &[AnyView<'_>]) -> Result<Cache> {
        plain_ensure!(
            matches!(args.len(), 28 | 29),
            INTERNAL_ERROR,
            "Check failed: (args.size() == 28 || args.size() == 29) is false: Invalid number of KV cache constructor args: {}",
            args.len()
        );
        let (config, kernels) = (Config::from_arguments(args)?, Kernels::from_arguments(args)?);
        // A number from outside: more sequences are added one by one.
        let reserved = config.sequences.min(1024) as usize;
        let sequences = Sequences::new(reserved, config.pages, config.page_size)?;
        let (storage, step) = (Storage::new(&config)?, Step::new(&config)?);
        Ok(Cache { config, kernels, storage, sequences, step, import: None })
    }

    /// Removes all sequences.
    pub(super) fn clear(&mut self) {
        self.sequences.clear();
        self.import = None;
    }

    /// Returns whether there is no sequence and all pages are free.
    pub(super) fn is_empty(&self) -> bool {
        self.sequences.len() == 0 && self.sequences.pool.is_unused()
    }

    /// Begins a step.
    ///
    /// # Errors
    /// InternalError during the import of a checkpoint; errors of [`Step::begin`].
    pub(super) fn begin(&mut self, request: Request<'_>) -> Result<()> {
        plain_ensure!(
            self.import.is_none(),
            INTERNAL_ERROR,
            "Check failed: (!checkpoint_import_in_progress_) is false: PagedAttentionKVCache cannot begin a forward pass before \
             checkpoint import is finished."
        );
        self.step.begin(&self.config, &self.kernels, &mut self.sequences, request)
    }

    /// Adds a sequence with the first tokens of another one.
    ///
    /// # Errors
    /// Same errors as [`Sequences::fork`].
    pub(super) fn fork(&mut self, parent: i64, child: i64, position: i64) -> Result<()> {
        let (storage, kernels) = (&self.storage, &self.kernels);
        let copy = |from, to, slots| storage.copy_page(kernels, from, to, slots);
        self.sequences.fork(parent, child, position, &copy)
    }

    /// Removes the last tokens of a sequence.
    ///
    /// # Errors
    /// Same errors as [`Sequences::shorten`].
    pub(super) fn shorten(&mut self, id: i64, count: i64) -> Result<()> {
        let (storage, kernels) = (&self.storage, &self.kernels);
        let copy = |from, to, slots| storage.copy_page(kernels, from, to, slots);
        self.sequences.shorten(id, count, &copy)
    }

    /// Prepares a call of kernels: sends the arrays of the step, and makes views of its rows.
    ///
    /// # Errors
    /// InternalError before the first step; MemoryError; errors of the device.
    #[inline]
    pub(super) fn prepare(&mut self) -> Result<()> {
        self.step.prepare()?;
        self.storage.set_rows(self.step.rows)
    }
}
