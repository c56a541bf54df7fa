//! Copies between the pages of a layer and the tensor of a checkpoint: (1, pages, keys and values,
//! key heads, page size, width).

use ferrite_alloc_ext::device::Device;
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorView;
use ferrite_core::value::device::kind::CPU;
use ferrite_core::{Tensor, plain_ensure};

use crate::builtins::paged_kv_cache::config::Config;
use crate::builtins::paged_kv_cache::sequence::{Sequence, pages_for};
use crate::memory::copy;

/// Returns the shape of the tensor of a layer with `count` pages.
pub(super) fn shape(config: &Config, count: i64) -> [i64; 6] {
    [1, count, 2, config.key_heads, i64::from(config.page_size), config.key_width]
}

fn element_bytes(config: &Config) -> i64 {
    (i64::from(config.dtype.bits) * i64::from(config.dtype.lanes) + 7) / 8
}

/// Returns the size of the tensor of a layer with `count` pages, in bytes.
pub(super) fn group_bytes(config: &Config, count: i64) -> i64 {
    shape(config, count).iter().product::<i64>() * element_bytes(config)
}

/// Checks that a tensor has the element type and the shape for a sequence, and is compact.
///
/// # Errors
/// InternalError otherwise.
pub(super) fn check_tensor(
    config: &Config,
    function: &'static str,
    tensor: &Tensor,
    sequence: &Sequence,
) -> Result<()> {
    let count = pages_for(sequence.length, config.page_size) as i64;
    let (dtype, expected) = (tensor.dtype() == config.dtype, shape(config, count));
    plain_ensure!(
        dtype && tensor.shape() == expected && tensor.is_contiguous(),
        INTERNAL_ERROR,
        "{} expects the tensor in layout (1,num_logical_pages,2,num_kv_heads,page_size,qk_head_dim). It must be compact, of the \
         element type of the cache, and have the shape (1,{},2,{},{},{})",
        function,
        &count,
        &config.key_heads,
        &i64::from(config.page_size),
        &config.key_width
    );
    Ok(())
}

/// Copies the pages of a sequence into a tensor. The rest of the last page becomes zero.
///
/// # Errors
/// RuntimeError while elements are borrowed; MemoryError; errors of the devices.
pub(super) fn export_pages(
    config: &Config,
    pages: &Tensor,
    sequence: &Sequence,
    target: &Tensor,
) -> Result<()> {
    let page = group_bytes(config, 1);
    let used = i64::from(sequence.length % config.page_size);
    Device::from(config.device).synchronize()?;
    let _guards = TensorView::from(pages).copy_guards(target.into())?;
    for (index, number) in (0..).zip(sequence.pages.iter()) {
        let (from, to) = (i64::from(*number) * page, index * page);
        if used != 0 && index as usize + 1 == sequence.pages.len() {
            clear_page(config, target, to)?;
            let row = config.key_width * element_bytes(config);
            let head = row * i64::from(config.page_size);
            for head in (0..2 * config.key_heads).map(|index| index * head) {
                copy_bytes(pages, from + head, target, to + head, used * row)?;
            }
        } else {
            copy_bytes(pages, from, target, to, page)?;
        }
    }
    Ok(())
}

/// Copies the pages in a tensor into those of a sequence.
///
/// # Errors
/// RuntimeError while elements are borrowed; MemoryError; errors of the devices.
pub(super) fn import_pages(
    config: &Config,
    source: &Tensor,
    sequence: &Sequence,
    pages: &Tensor,
) -> Result<()> {
    let page = group_bytes(config, 1);
    Device::from(config.device).synchronize()?;
    let _guards = TensorView::from(source).copy_guards(pages.into())?;
    for (index, number) in (0..).zip(sequence.pages.iter()) {
        copy_bytes(source, index * page, pages, i64::from(*number) * page, page)?;
    }
    Ok(())
}

/// Returns `bytes` bytes of a tensor from a byte on, as a tensor of bytes. `extents` has space for
/// its shape.
fn part(tensor: &DLTensor, first: i64, extents: &mut [i64; 1], bytes: i64) -> DLTensor {
    *extents = [bytes];
    DLTensor {
        shape: extents.as_mut_ptr(),
        strides: core::ptr::null_mut(),
        ndim: 1,
        dtype: <u8 as ferrite_core::tensor::Element>::DTYPE,
        byte_offset: tensor.byte_offset + first.cast_unsigned(),
        ..*tensor
    }
}

/// Copies bytes from one tensor to another. Both must have them, and their elements be borrowed.
fn copy_bytes(from: &Tensor, first: i64, to: &Tensor, target: i64, bytes: i64) -> Result<()> {
    let (mut one, mut other) = ([0], [0]);
    let source = part(from.dl_tensor(), first, &mut one, bytes);
    let target = part(to.dl_tensor(), target, &mut other, bytes);
    // SAFETY: both parts lie in their tensors, whose elements the caller borrowed.
    unsafe { copy(&source, &target) }
}

/// Writes zeros to a page of a tensor.
fn clear_page(config: &Config, target: &Tensor, first: i64) -> Result<()> {
    let bytes = group_bytes(config, 1);
    let (mut zeros, mut one, mut other) = (Buffer::new(), [0], [0]);
    zeros.try_resize(bytes as usize, 0u8)?;
    let host = DLTensor {
        data: zeros.as_slice().as_ptr().cast_mut().cast(),
        byte_offset: 0,
        device: DLDevice { device_type: CPU, device_id: 0 },
        ..*target.dl_tensor()
    };
    let (source, target) =
        (part(&host, 0, &mut one, bytes), part(target.dl_tensor(), first, &mut other, bytes));
    // SAFETY: the page lies in the tensor, whose elements the caller borrowed.
    unsafe { copy(&source, &target) }
}
