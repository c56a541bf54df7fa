//! Checks of the alignment of tensors from outside the model: arguments of a call, and results of
//! functions that the model calls. Kernels assume the alignment of the model's own storages.
//!
//! Each address is checked once. Tensors in main memory that kernels cannot use are replaced by
//! copies (`copies`). In builds without all builtins, such arguments are errors (`refusal`), and
//! results are used as they are: their kernels rely on the alignment of an element only, and a
//! check would take 262 bytes of flash.
//!
//! # Upstream
//! TVM's machine passes such tensors on, and the vector instructions of a kernel then end the
//! process.

#[cfg(feature = "all-builtins")]
mod copies;
mod refusal;

#[cfg(feature = "all-builtins")]
pub(super) use copies::{InputCopy, Origin, check_unchanged, replace};
pub(super) use refusal::refuse;

use ferrite_alloc_ext::device::is_main_memory;
use ferrite_core::abi::type_index;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{Any, AnyView};

use crate::memory::required_alignment;

/// Addresses with any of these bits need a check: no alignment that kernels rely on is larger.
const LOW_BITS: usize = 63;

/// The addresses of a call's tensors, combined in one number: adding a tensor takes two
/// instructions.
#[derive(Default)]
pub(super) struct Addresses {
    data: usize,
    byte_offsets: u64,
}

impl Addresses {
    /// Adds the address of an argument, and returns it as an owned value if it is a tensor object.
    #[inline(always)]
    pub(super) fn retain_tensor(&mut self, arg: &AnyView<'_>) -> Option<Any> {
        if arg.type_index() != type_index::TENSOR {
            self.add_value(arg);
            return None;
        }
        self.add(TensorRef::from_view(arg)?);
        // SAFETY: the view of an object has the form of an owned value, which is borrowed here.
        Some(unsafe { &*core::ptr::from_ref(arg).cast::<Any>() }.clone())
    }

    /// Adds the address of a value if it is a tensor. Elements of a tuple are not added, since a
    /// tuple always needs a check.
    #[inline(always)]
    fn add_value(&mut self, value: &AnyView<'_>) {
        match TensorRef::from_view(value) {
            Some(tensor) => self.add(tensor),
            None => self.data |= usize::from(value.type_index() == type_index::ARRAY),
        }
    }

    #[inline(always)]
    fn add(&mut self, tensor: TensorRef<'_>) {
        self.data |= tensor.data_ptr().addr();
        self.byte_offsets |= tensor.byte_offset();
    }

    /// Returns `true` if one of the tensors may have to be replaced.
    #[inline(always)]
    pub(super) fn need_check(&self) -> bool {
        (self.data & LOW_BITS) as u64 | self.byte_offsets != 0
    }
}

/// Returns `true` if a result may have to be replaced; always `false` in builds without all
/// builtins. Takes three instructions for most values, and six for an aligned tensor.
#[inline(always)]
pub(crate) fn result_needs_check(result: &Any) -> bool {
    const _: () = assert!(type_index::ARRAY == type_index::TENSOR + 1);
    let after_tensor = result.type_index().wrapping_sub(type_index::TENSOR).cast_unsigned();
    cfg!(feature = "all-builtins")
        && after_tensor <= 1
        && (after_tensor == 1 || !starts_aligned(result))
}

/// Returns `true` if the data of a tensor object has an aligned address and no byte offset.
#[inline(always)]
fn starts_aligned(tensor: &Any) -> bool {
    let view = tensor.view();
    let Some(tensor) = TensorRef::from_view(&view) else { return true };
    tensor.data_ptr().addr() & LOW_BITS == 0 && tensor.byte_offset() == 0
}

/// Returns `true` if kernels can read the elements where they are. They check device, shape and
/// strides themselves: memory of a device is accepted here, and so are strides, with which they do
/// not use vector instructions.
fn is_usable(tensor: TensorRef<'_>) -> bool {
    !is_main_memory(tensor.device().device_type)
        || !tensor.is_contiguous()
        || tensor.numel().is_none_or(|count| count == 0)
        || tensor.byte_offset() == 0 && is_aligned(tensor)
}

/// Returns `true` if the first element has the alignment that kernels rely on.
fn is_aligned(tensor: TensorRef<'_>) -> bool {
    tensor.is_aligned(required_alignment(tensor.dtype()) as u64)
}
