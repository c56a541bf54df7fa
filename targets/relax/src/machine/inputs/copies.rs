//! Aligned copies of inputs.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::ffi_functions::invalid_object;
use ferrite_core::memory::Buffer;
use ferrite_core::object::ObjectClass;
use ferrite_core::tensor::TensorRef;
use ferrite_core::text::Writer;
use ferrite_core::{Any, ObjectRef, Tensor, plain_bail, stack};

use super::refusal::write_argument;
use super::{Addresses, is_aligned, is_usable};
use crate::executable::{FunctionInfo, Program};
use crate::memory::{Allocator, Placement, Storage, required_alignment, tensor_over};

/// A copy of an input, and the elements that it was made of.
pub(in crate::machine) struct InputCopy {
    parameter: usize,
    copy: Tensor,
    original: *const u8,
    bytes: usize,
}

/// Replaces the tensors in arguments that kernels cannot use, elements of tuples included. Returns the copies.
///
/// # Errors
/// MemoryError; ValueError for tuples that are nested too deep.
pub(in crate::machine) fn replace(args: &mut [Any], allocator: Allocator) -> Result<Buffer<InputCopy>> {
    let mut copies = Buffer::new();
    if !need_a_look(args) {
        return Ok(copies);
    }
    for (parameter, arg) in args.iter_mut().enumerate() {
        let mut replacer = Replacer { parameter, allocator, copies: &mut copies };
        if let Some(value) = replacer.replacement(arg)? {
            // Dropped when the new value is in place.
            drop(core::mem::replace(arg, value));
        }
    }
    Ok(copies)
}

/// Returns `true` if a tensor among the arguments, or among the elements of a tuple, may have to be replaced.
fn need_a_look(args: &[Any]) -> bool {
    let mut addresses = Addresses::default();
    for arg in args {
        match arg.as_object().and_then(ObjectRef::as_class::<ArrayObject>) {
            // Tuples in tuples are looked at one by one.
            Some(tuple) => tuple.as_slice().iter().for_each(|element| addresses.add_value(&element.view())),
            None => addresses.add_value(&arg.view()),
        }
    }
    addresses.need_a_look()
}

/// Replaces the tensors of one argument.
struct Replacer<'a> {
    parameter: usize,
    allocator: Allocator,
    copies: &'a mut Buffer<InputCopy>,
}

impl Replacer<'_> {
    /// Returns the value that kernels can use in place of this one; `None` for this one.
    fn replacement(&mut self, value: &Any) -> Result<Option<Any>> {
        let view = value.view();
        if let Some(tensor) = TensorRef::from_view(&view) {
            return if is_usable(tensor) { Ok(None) } else { self.usable(tensor, value).map(Some) };
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

    /// Returns a tensor without a byte offset that has the same elements: a view if they are aligned, otherwise a copy.
    fn usable(&mut self, tensor: TensorRef<'_>, value: &Any) -> Result<Any> {
        let Some(bytes) = tensor.size_bytes() else {
            plain_bail!(VALUE_ERROR, "The tensor has more elements than memory can hold");
        };
        let data = tensor.data_ptr().wrapping_byte_add(tensor.byte_offset() as usize);
        let place = |data| Placement { data, byte_offset: 0, device: tensor.device(), dtype: tensor.dtype() };
        if is_aligned(tensor) {
            let owner = value.as_object().cloned().unwrap_or_else(invalid_object);
            // SAFETY: the elements lie at this address; the owner keeps them, or the caller of the model that of a `DLTensor*`.
            return unsafe { tensor_over(&owner, &place(data), tensor.shape()) }.map(Any::from);
        }
        let storage = Storage::new(self.allocator.allocate(bytes)?)?;
        let target = storage.block().data();
        let original = data.cast::<u8>().cast_const();
        // SAFETY: the tensor is compact and in main memory; the storage is new, and has as many bytes.
        let copy = unsafe {
            target.cast::<u8>().copy_from_nonoverlapping(original, bytes);
            tensor_over(storage.as_object(), &place(target), tensor.shape())?
        };
        self.copies.try_push(InputCopy { parameter: self.parameter, copy: copy.clone(), original, bytes })?;
        Ok(copy.into())
    }
}

/// Checks that a function left the copies of its inputs as they were: the caller would not see what it wrote.
///
/// # Errors
/// ValueError that names the argument.
///
/// # Safety
/// The originals must still be there.
pub(in crate::machine) unsafe fn check_unchanged(
    copies: &[InputCopy],
    program: &Program,
    info: &FunctionInfo,
) -> Result<()> {
    for InputCopy { parameter, copy, original, bytes } in copies {
        // SAFETY: the copy has as many bytes, and so has the original, which the caller guarantees.
        let [now, before] = unsafe {
            [copy.dl_tensor().data.cast::<u8>().cast_const(), *original]
                .map(|start| core::slice::from_raw_parts(start, *bytes))
        };
        if now != before {
            return Err(changed(program, info, *parameter, required_alignment(copy.dtype())));
        }
    }
    Ok(())
}

#[cold]
fn changed(program: &Program, info: &FunctionInfo, parameter: usize, alignment: usize) -> Error {
    let write = |out: &mut Writer<'_>| {
        write_argument(out, program, info, parameter);
        out.put(b" must be aligned to ");
        out.put_word(alignment);
        out.put(b" bytes, because the function writes to it");
    };
    Error::from_parts(ferrite_core::__error_site!(), ferrite_core::error::kind::VALUE_ERROR, &write)
}
