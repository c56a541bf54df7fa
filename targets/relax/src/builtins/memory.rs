//! Storages and the tensors over them.

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::shape::data_size_bytes;
use ferrite_core::{Any, AnyView, Shape, String, Tensor, plain_bail};

use super::Builtin;
use crate::builtin;
use crate::machine::Context;
use crate::memory::{self, Placement, Storage, tensor_over};

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.alloc_storage", alloc_storage),
    builtin!(packed "vm.builtin.alloc_tensor", alloc_tensor),
    builtin!(packed "vm.builtin.null_value", null_value),
    builtin!("vm.builtin.memory_manager.clear", memory::clear),
];

/// Allocates a storage for a tensor of this shape and dtype, on a device of the machine by number; -1 is the host.
fn alloc_storage(
    machine: Context,
    shape: Shape,
    device_index: i64,
    dtype: DLDataType,
    _scope: String,
) -> Result<Storage> {
    let Some(bytes) = data_size_bytes(shape.as_slice(), dtype) else {
        plain_bail!(
            VALUE_ERROR,
            "The shape of a storage has a negative extent, or more elements than memory can hold"
        );
    };
    Storage::new(machine.allocator(device_index)?.allocate(bytes)?)
}

/// Places a tensor in a storage: (storage, byte offset, shape, dtype[, memory scope]).
fn alloc_tensor(args: &[AnyView<'_>]) -> Result<Any> {
    let [storage, offset, shape, dtype, ..] = args else {
        plain_bail!(TYPE_ERROR, "vm.builtin.alloc_tensor takes 4 or 5 arguments, but got {}", args.len());
    };
    let (storage, offset) = (storage.get::<Storage>()?, offset.get::<i64>()?);
    let (shape, dtype) = (shape.get::<Shape>()?, dtype.get::<DLDataType>()?);
    let block = storage.block();
    let bytes = data_size_bytes(shape.as_slice(), dtype);
    let start = usize::try_from(offset).ok();
    let end = bytes.zip(start).and_then(|(bytes, start)| bytes.checked_add(start));
    if end.is_none_or(|end| end > block.bytes()) {
        plain_bail!(
            INTERNAL_ERROR,
            "storage allocation failure, attempted to allocate {} at offset {} in region that is {}bytes",
            bytes.unwrap_or(usize::MAX),
            &offset,
            block.bytes()
        );
    }
    let placement =
        Placement { data: block.data(), byte_offset: offset.cast_unsigned(), device: block.device(), dtype };
    // SAFETY: the storage has room for the tensor, as was just checked.
    let tensor: Tensor = unsafe { tensor_over(storage.clone().into_object(), &placement, shape.as_slice())? };
    Ok(tensor.into())
}

/// None, which replaces the value of a register after its last use.
fn null_value(_: &[AnyView<'_>]) -> Result<Any> {
    Ok(Any::NONE)
}
