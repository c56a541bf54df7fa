//! Memory of a cache: the pages of each layer, and the buffers of a step.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::Element;
use ferrite_core::{AnyView, Tensor, plain_bail};

use super::config::{Config, Kind};
use super::kernels::Kernels;
use crate::memory::{Placement, empty, renew_view};

/// Pages and step buffers.
pub(super) struct Storage {
    /// The pages of each layer: (pages, keys and values, key heads, page size, width), or for
    /// latent attention (pages, page size, width).
    pub(super) pages: Buffer<Tensor>,
    /// Queries, keys and values of a step, after rotation. Missing without layers that fuse them.
    queries: Option<[StepBuffer; 3]>,
    /// Output of an attention kernel that is merged into that of another one.
    output: StepBuffer,
    /// Sums of weights of the first kernel, and of one that is merged into it.
    sums: [StepBuffer; 2],
    /// Number of rows of the views.
    rows: i64,
}

impl Storage {
    /// Allocates the memory.
    ///
    /// # Errors
    /// MemoryError; ValueError for sizes that overflow; errors of the device.
    pub(super) fn new(config: &Config) -> Result<Storage> {
        let Config { key_heads, key_width, .. } = *config;
        let (count, size) = (i64::from(config.pages), i64::from(config.page_size));
        let mut pages = Buffer::try_with_capacity(config.kinds.len())?;
        for kind in config.kinds.iter() {
            let shape: &[i64] = match kind {
                Kind::Latent => &[count, size, key_width],
                _ => &[count, 2, key_heads, size, key_width],
            };
            pages.try_push(empty(shape, config.dtype, config.device)?)?;
        }
        let rows = config.longest_step;
        let buffer = |heads: i64, width: i64| -> Result<StepBuffer> {
            StepBuffer::new(empty(&[rows, heads, width], config.dtype, config.device)?)
        };
        let queries = if config.kinds.iter().any(|kind| *kind != Kind::Latent) {
            Some([
                buffer(config.query_heads, key_width)?,
                buffer(key_heads, key_width)?,
                buffer(key_heads, key_width)?,
            ])
        } else {
            None
        };
        let sums = || -> Result<StepBuffer> {
            StepBuffer::new(empty(&[rows, config.query_heads], f32::DTYPE, config.device)?)
        };
        Ok(Storage {
            pages,
            queries,
            output: buffer(config.query_heads, config.value_width)?,
            sums: [sums()?, sums()?],
            rows: config.longest_step,
        })
    }

    /// Makes the views of the step buffers for a number of rows, at most the longest step.
    ///
    /// # Errors
    /// MemoryError.
    #[inline]
    pub(super) fn set_rows(&mut self, rows: i64) -> Result<()> {
        if rows != self.rows {
            self.rows = 0;
            let queries = self.queries.iter_mut().flatten();
            for buffer in queries.chain([&mut self.output]).chain(&mut self.sums) {
                buffer.set_rows(rows)?;
            }
            self.rows = rows;
        }
        Ok(())
    }

    /// Returns the buffers of queries, keys and values.
    ///
    /// # Errors
    /// InternalError if no layer has them.
    #[inline]
    pub(super) fn queries(&self) -> Result<[&Tensor; 3]> {
        match &self.queries {
            Some([queries, keys, values]) => Ok([queries.view()?, keys.view()?, values.view()?]),
            None => plain_bail!(
                INTERNAL_ERROR,
                "No layer of the KV cache has attention of fused queries, keys and values"
            ),
        }
    }

    /// Returns the sums of weights of the first kernel.
    ///
    /// # Errors
    /// InternalError if the views are missing.
    #[inline]
    pub(super) fn sums(&self) -> Result<&Tensor> {
        self.sums[0].view()
    }

    /// Returns output and sums of a kernel that is merged into another one.
    ///
    /// # Errors
    /// InternalError if the views are missing.
    #[inline]
    pub(super) fn merged(&self) -> Result<[&Tensor; 2]> {
        Ok([self.output.view()?, self.sums[1].view()?])
    }

    /// Copies the first slots of a page to another page, in all layers.
    ///
    /// # Errors
    /// Errors of the kernel.
    pub(super) fn copy_page(
        &self,
        kernels: &Kernels,
        from: i32,
        to: i32,
        slots: i32,
    ) -> Result<()> {
        for pages in self.pages.iter() {
            let args = [AnyView::from(pages), from.into(), to.into(), slots.into()];
            kernels.copy_page.call_packed(&args)?;
        }
        Ok(())
    }
}

/// A buffer with a row for each token of the longest step, and a view of the rows of a step.
struct StepBuffer {
    memory: Tensor,
    view: Option<Tensor>,
}

impl StepBuffer {
    fn new(memory: Tensor) -> Result<StepBuffer> {
        let view = Some(memory.clone());
        Ok(StepBuffer { memory, view })
    }

    fn view(&self) -> Result<&Tensor> {
        match &self.view {
            Some(view) => Ok(view),
            None => plain_bail!(INTERNAL_ERROR, "The buffers of the KV cache have no views"),
        }
    }

    fn set_rows(&mut self, rows: i64) -> Result<()> {
        let tensor = self.memory.dl_tensor();
        let mut shape = [0; 3];
        let shape = &mut shape[..self.memory.shape().len().min(3)];
        shape.copy_from_slice(self.memory.shape());
        if let Some(first) = shape.first_mut() {
            *first = rows;
        }
        let placement = Placement {
            data: tensor.data,
            byte_offset: tensor.byte_offset,
            device: tensor.device,
            dtype: tensor.dtype,
        };
        // SAFETY: the buffer has at least as many rows.
        let view =
            unsafe { renew_view(self.view.take(), self.memory.as_object(), &placement, shape)? };
        self.view = Some(view);
        Ok(())
    }
}
