//! Aligned copies of inputs, and of results of other functions.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::containers::key::hash_bytes;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::stack;
use ferrite_core::platform::text::Writer;
use ferrite_core::tensor::{TensorRef, TensorView};
use ferrite_core::{Any, ObjectRef, Tensor, plain_bail};

use super::refusal::write_argument;
use super::{Addresses, is_aligned, is_usable};
use crate::executable::{FunctionInfo, Program};
use crate::memory::{Allocator, Placement, Storage, is_placed, required_alignment, tensor_over};

/// A copy of a tensor that the model received, and the original elements.
pub(in crate::machine) struct InputCopy {
    copy: Tensor,
    bytes: usize,
    before: Before,
}

/// The original elements, to find out whether the function changed the copy.
enum Before {
    /// An argument, whose elements the caller keeps.
    Argument { parameter: usize, original: Any },
    /// Hash of the elements of a result, whose owner may change or release them.
    Result { hash: u64 },
}

/// Source of the tensors to check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::machine) enum Origin {
    /// The caller of a function of the model.
    Arguments,
    /// A function that the model calls.
    Result,
}

/// Replaces the tensors in values that kernels cannot use, elements of tuples included. Adds the
/// copies to `copies`. A result in a storage of the model is not copied.
///
/// # Errors
/// MemoryError; ValueError for tuples that are nested too deep.
pub(in crate::machine) fn replace(
    args: &mut [Any],
    origin: Origin,
    allocator: Allocator,
    copies: &mut Buffer<InputCopy>,
) -> Result<()> {
    if !need_check(args) {
        return Ok(());
    }
    for (parameter, arg) in args.iter_mut().enumerate() {
        let mut replacer = Replacer { parameter, origin, allocator, copies };
        if let Some(value) = replacer.replacement(arg)? {
            // Dropped when the new value is in place.
            drop(core::mem::replace(arg, value));
        }
    }
    Ok(())
}

/// Returns `true` if a tensor among the arguments, or among the elements of a tuple, may have to be
/// replaced.
fn need_check(args: &[Any]) -> bool {
    let mut addresses = Addresses::default();
    for arg in args {
        match arg.as_object().and_then(ObjectRef::as_class::<ArrayObject>) {
            // Tuples in tuples are looked at one by one.
            Some(tuple) => {
                tuple.as_slice().iter().for_each(|element| addresses.add_value(&element.view()))
            }
            None => addresses.add_value(&arg.view()),
        }
    }
    addresses.need_check()
}

/// State of replacing the tensors of one value.
struct Replacer<'a> {
    parameter: usize,
    origin: Origin,
    allocator: Allocator,
    copies: &'a mut Buffer<InputCopy>,
}

impl Replacer<'_> {
    /// Returns the value to pass to kernels in place of `value`; `None` to pass `value` itself.
    fn replacement(&mut self, value: &Any) -> Result<Option<Any>> {
        let view = value.view();
        if let Some(tensor) = TensorRef::from_view(&view) {
            let stays = is_usable(tensor)
                || self.origin == Origin::Result && value.as_object().is_some_and(is_placed);
            return if stays { Ok(None) } else { self.usable(tensor, value).map(Some) };
        }
        match value.as_object().and_then(ObjectRef::as_class::<ArrayObject>) {
            Some(tuple) => self.tuple(tuple),
            None => Ok(None),
        }
    }

    /// Returns a tuple with the replaced elements; `None` if none is replaced.
    fn tuple(&mut self, tuple: &ArrayObject) -> Result<Option<Any>> {
        let mut elements: Option<Buffer<Any>> = None;
        for (index, element) in tuple.as_slice().iter().enumerate() {
            let Some(value) = stack::nest(|| self.replacement(element))? else { continue };
            if elements.is_none() {
                let mut all = Buffer::try_with_capacity(tuple.len())?;
                tuple.as_slice().iter().try_for_each(|element| all.try_push(element.clone()))?;
                elements = Some(all);
            }
            if let Some(place) = elements.as_mut().and_then(|elements| elements.get_mut(index)) {
                *place = value;
            }
        }
        match elements {
            Some(elements) => Ok(Some(ArrayObject::from_slice(&elements)?.into())),
            None => Ok(None),
        }
    }

    /// Returns a tensor without a byte offset that has the same elements: a view if they are
    /// aligned, otherwise a copy.
    fn usable(&mut self, tensor: TensorRef<'_>, value: &Any) -> Result<Any> {
        let Some(bytes) = tensor.size_bytes() else {
            plain_bail!(VALUE_ERROR, "The tensor has more elements than memory can hold");
        };
        let data = tensor.data_ptr().wrapping_byte_add(tensor.byte_offset() as usize);
        let place = |data| Placement {
            data,
            byte_offset: 0,
            device: tensor.device(),
            dtype: tensor.dtype(),
        };
        if is_aligned(tensor) {
            // SAFETY: the elements lie at this address; the owner keeps them, or the caller of the
            // model that of a `DLTensor*`.
            return unsafe { tensor_over(value.as_object(), &place(data), tensor.shape()) }
                .map(Any::from);
        }
        let storage = Storage::new(self.allocator.allocate(bytes)?)?;
        let target = storage.block().data();
        let original = data.cast::<u8>().cast_const();
        let _guard =
            TensorView::from_value(&value.view()).map(TensorView::read_guard).transpose()?;
        // SAFETY: the tensor is compact and in main memory, and nobody writes it; the storage is
        // new, and has as many bytes.
        let copy = unsafe {
            target.cast::<u8>().copy_from_nonoverlapping(original, bytes);
            tensor_over(Some(storage.as_object()), &place(target), tensor.shape())?
        };
        let before = match self.origin {
            Origin::Arguments => {
                Before::Argument { parameter: self.parameter, original: value.clone() }
            }
            Origin::Result => {
                // SAFETY: the copy has as many bytes.
                Before::Result { hash: hash_bytes(unsafe { elements(&copy, bytes) }) }
            }
        };
        self.copies.try_push(InputCopy { copy: copy.clone(), bytes, before })?;
        Ok(copy.into())
    }
}

/// Returns the elements of a copy.
///
/// # Safety
/// The copy must have that many bytes, and no other code may write them meanwhile.
unsafe fn elements(copy: &Tensor, bytes: usize) -> &[u8] {
    // SAFETY: contract of this function.
    unsafe { core::slice::from_raw_parts(copy.dl_tensor().data.cast::<u8>().cast_const(), bytes) }
}

/// Checks that a function did not change the copies of its inputs: the owner of the originals would
/// not see the change.
///
/// # Errors
/// ValueError that names the argument; RuntimeError while an original or its copy is borrowed for
/// writing.
///
/// # Safety
/// The DLTensors of arguments that are pointers must still be valid, and no other code may write
/// their elements.
pub(in crate::machine) unsafe fn check_unchanged(
    copies: &[InputCopy],
    program: &Program,
    info: &FunctionInfo,
) -> Result<()> {
    for InputCopy { copy, bytes, before } in copies.iter().filter(|copy| copy.bytes != 0) {
        // A function that the model called may have kept the copy.
        let _guard = TensorView::from(copy).read_guard()?;
        // SAFETY: the copy has as many bytes, which nobody writes while they are borrowed.
        let now = unsafe { elements(copy, *bytes) };
        let is_unchanged = match before {
            Before::Argument { original, .. } => {
                let view = original.view();
                let Some(original) = TensorView::from_value(&view) else { continue };
                let _guard = original.read_guard()?;
                let first = original.as_tensor_ref().first_byte();
                // SAFETY: the original has as many bytes, is there, as the caller guarantees, and
                // nobody writes a tensor that is borrowed.
                now == unsafe { core::slice::from_raw_parts(first, *bytes) }
            }
            Before::Result { hash } => hash_bytes(now) == *hash,
        };
        if !is_unchanged {
            return Err(changed(program, info, before, required_alignment(copy.dtype())));
        }
    }
    Ok(())
}

#[cold]
fn changed(program: &Program, info: &FunctionInfo, before: &Before, alignment: usize) -> Error {
    let write = |out: &mut Writer<'_>| {
        match before {
            Before::Argument { parameter, .. } => write_argument(out, program, info, *parameter),
            Before::Result { .. } => {
                out.put(b"A tensor that a function returned to ");
                out.put_lossy(program.name(info));
            }
        }
        out.put(b" must be aligned to ");
        out.put_word(alignment);
        out.put(b" bytes, because the function writes to it");
    };
    Error::from_parts(ferrite_core::__error_site!(), ferrite_core::error::kind::VALUE_ERROR, &write)
}
