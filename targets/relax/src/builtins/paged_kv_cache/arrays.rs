//! Auxiliary arrays of a step: int32 arrays that kernels read, in one block of memory.
//!
//! In main memory the arrays are written in place. For other devices they are written to a staging
//! buffer, and one copy sends them all. Where the device has several streams the copy has one of
//! its own: it waits for the kernels of the step before, and overlaps those before the first
//! attention. Arrays whose lengths change in a decode step come last, so that the tensors of the
//! others stay as they are from step to step.

use ferrite_alloc_ext::device::is_main_memory;
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::{Borrow, Element, TensorView};
use ferrite_core::value::device::kind::CPU;
use ferrite_core::{Tensor, plain_bail};

use crate::memory::{CopyStream, Placement, empty, renew_view};

/// Number of elements that the start of an array is a multiple of: 16 bytes.
const ALIGNMENT: usize = 4;

/// An array of a step, in the order of the block.
#[derive(Clone, Copy)]
#[repr(usize)]
pub(super) enum Name {
    /// Position of each new token for its rotary embedding. First, since models read it as a tensor
    /// without an offset.
    Positions,
    /// Running sums of the numbers of new tokens.
    Ends,
    /// Position of the first new token of each sequence.
    NewOffsets,
    /// Place in the pages of each new token; -1 if it is not kept.
    Places,
    /// Table of shared prefixes.
    PrefixEnds,
    PrefixPageEnds,
    PrefixLengths,
    PrefixOffsets,
    /// Table of sequences.
    PageEnds,
    Lengths,
    Offsets,
    /// Table of sequences for layers with windows.
    WindowPageEnds,
    WindowLengths,
    WindowOffsets,
    /// Running sums of the numbers of nodes of token trees.
    MaskEnds,
    Masks,
    PrefixPages,
    WindowPages,
    Pages,
}

/// Number of arrays.
const COUNT: usize = Name::Pages as usize + 1;

/// Places of the arrays of a step within the block.
pub(super) struct Layout {
    sections: [Section; COUNT],
    len: usize,
}

/// Place and shape of an array. Its extents are 0 if the step has no such array.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Section {
    start: usize,
    shape: [i64; 2],
    /// Number of dimensions; 0 if the step has no such array.
    ndim: usize,
}

impl Layout {
    /// Creates a layout without arrays.
    pub(super) fn new() -> Layout {
        Layout { sections: [Section::default(); COUNT], len: 0 }
    }

    /// Adds an array behind the others.
    #[inline]
    pub(super) fn add(&mut self, name: Name, len: usize) {
        self.sections[name as usize] = Section { start: self.len, shape: [len as i64, 0], ndim: 1 };
        self.len += len.next_multiple_of(ALIGNMENT);
    }

    /// Adds an array with two dimensions behind the others.
    #[inline]
    pub(super) fn add_matrix(&mut self, name: Name, rows: usize, columns: usize) {
        let shape = [rows as i64, columns as i64];
        self.sections[name as usize] = Section { start: self.len, shape, ndim: 2 };
        self.len += (rows * columns).next_multiple_of(ALIGNMENT);
    }

    /// Returns the index in the block of the first element of an array.
    #[inline]
    pub(super) fn start(&self, name: Name) -> usize {
        self.sections[name as usize].start
    }
}

/// The arrays of the current step.
pub(super) struct Arrays {
    device: DLDevice,
    /// Memory of the arrays on the device.
    block: Tensor,
    /// Contents to send; empty in main memory.
    staging: Buffer<i32>,
    copies: CopyStream,
    views: [ArrayView; COUNT],
    len: usize,
    is_sent: bool,
}

#[derive(Default)]
struct ArrayView {
    /// Section of the step that has begun.
    planned: Section,
    /// Section that the tensor is a view of.
    current: Section,
    tensor: Option<Tensor>,
}

/// Allocates a block of `capacity` elements, and its staging buffer outside of main memory.
fn allocate(device: DLDevice, capacity: usize) -> Result<(Tensor, Buffer<i32>)> {
    let mut staging = Buffer::new();
    if !is_main_memory(device.device_type) {
        staging.try_resize(capacity, 0)?;
    }
    Ok((empty(&[capacity as i64], i32::DTYPE, device)?, staging))
}

impl Arrays {
    /// Allocates a block with a capacity of `capacity` elements.
    ///
    /// # Errors
    /// MemoryError; errors of the device.
    pub(super) fn new(device: DLDevice, capacity: usize) -> Result<Arrays> {
        let (block, staging) = allocate(device, capacity)?;
        Ok(Arrays {
            device,
            block,
            staging,
            copies: CopyStream::new(device)?,
            views: Default::default(),
            len: 0,
            is_sent: true,
        })
    }

    fn capacity(&self) -> usize {
        self.block.shape().first().map_or(0, |len| *len as usize)
    }

    /// Makes the copy of the next step wait for kernels of the current one, which read the block.
    ///
    /// # Errors
    /// Errors of the device.
    #[inline]
    pub(super) fn wait_for_readers(&self) -> Result<()> {
        if self.staging.is_empty() { Ok(()) } else { self.copies.wait_for_kernels() }
    }

    /// Reserves memory for a layout, in place of the memory of the current step.
    ///
    /// # Errors
    /// MemoryError; errors of the device. The arrays are then as they were.
    pub(super) fn reserve(&mut self, layout: &Layout) -> Result<()> {
        let old = self.capacity();
        if layout.len > old {
            (self.block, self.staging) = allocate(self.device, layout.len.max(2 * old))?;
            for view in &mut self.views {
                // A tensor of the old block.
                view.current = Section::default();
            }
        }
        Ok(())
    }

    /// Borrows the memory for writing until the guard is dropped.
    ///
    /// # Errors
    /// RuntimeError while a function reads an array of the step before.
    pub(super) fn write_guard(block: &Tensor) -> Result<Borrow<'_, true>> {
        TensorView::from(block).write_guard()
    }

    /// Returns the memory of the arrays.
    pub(super) fn block(&self) -> &Tensor {
        &self.block
    }

    /// Begins the arrays of a step, for which memory is reserved and borrowed. Returns the elements
    /// of the block, to be written.
    #[inline]
    pub(super) fn begin(&mut self, layout: &Layout) -> &mut [i32] {
        for (view, section) in self.views.iter_mut().zip(&layout.sections) {
            view.planned = *section;
        }
        self.len = layout.len;
        self.is_sent = false;
        if is_main_memory(self.device.device_type) {
            let tensor = self.block.dl_tensor();
            // SAFETY: the block is a compact tensor of int32 in main memory, whose elements the
            // caller borrowed; the layout fits it.
            unsafe {
                let first = tensor.data.byte_add(tensor.byte_offset as usize).cast::<i32>();
                core::slice::from_raw_parts_mut(first, layout.len)
            }
        } else {
            &mut self.staging.as_mut_slice()[..layout.len]
        }
    }

    /// Sends the arrays to the device, and makes their tensors. Does nothing if that was done.
    ///
    /// # Errors
    /// MemoryError; errors of the device.
    pub(super) fn send(&mut self) -> Result<()> {
        if self.is_sent {
            return Ok(());
        }
        if !self.staging.is_empty() {
            self.copy_staging()?;
        }
        let block = self.block.dl_tensor();
        for view in &mut self.views {
            let section = view.planned;
            if section == view.current || section.ndim == 0 {
                continue;
            }
            let placement = Placement {
                data: block.data,
                byte_offset: block.byte_offset + (section.start * size_of::<i32>()) as u64,
                device: block.device,
                dtype: block.dtype,
            };
            let shape = section.shape.get(..section.ndim).unwrap_or_default();
            let old = view.tensor.take();
            view.current = Section::default();
            // SAFETY: the section lies in the block.
            let tensor = unsafe { renew_view(old, self.block.as_object(), &placement, shape)? };
            view.tensor = Some(tensor);
            view.current = section;
        }
        self.is_sent = true;
        Ok(())
    }

    /// Queues a copy of the staging buffer, for which kernels queued from now on wait.
    fn copy_staging(&self) -> Result<()> {
        let (mut shape, block) = ([self.len as i64], self.block.dl_tensor());
        let (shape, strides) = (shape.as_mut_ptr(), core::ptr::null_mut());
        let target = DLTensor { shape, strides, ndim: 1, ..*block };
        let host = DLDevice { device_type: CPU, device_id: 0 };
        let data = self.staging.as_slice().as_ptr().cast_mut().cast();
        let source = DLTensor { data, byte_offset: 0, device: host, ..target };
        let _guard = TensorView::from(&self.block).write_guard()?;
        // SAFETY: both have as many elements, and those of the target are borrowed; kernels that
        // read them were queued before the step began.
        unsafe { self.copies.send(&source, &target) }
    }

    /// Returns an array that was sent.
    ///
    /// # Errors
    /// InternalError if the step has no such array.
    #[inline]
    pub(super) fn get(&self, name: Name) -> Result<&Tensor> {
        match &self.views[name as usize] {
            ArrayView { planned, tensor: Some(tensor), .. } if planned.ndim != 0 => Ok(tensor),
            _ => plain_bail!(INTERNAL_ERROR, "The step of the KV cache has no such array"),
        }
    }

    /// Returns whether an array of the step has elements.
    #[inline]
    pub(super) fn has(&self, name: Name) -> bool {
        self.views[name as usize].planned.shape[0] != 0
    }
}
