//! Builtins that allocate storages and place tensors in them.

use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::value::shape::data_size_bytes;
use ferrite_core::{Any, AnyView, Shape, String, Tensor, plain_bail, plain_ensure};

use super::arguments::{borrowed, data_type, expect};
use super::{Builtin, integer};
use crate::builtin;
use crate::machine::Context;
use crate::memory::{self, Placement, SpareTensors, Storage, tensor_over};

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.alloc_storage", alloc_storage),
    builtin!(packed "vm.builtin.alloc_tensor", alloc_tensor),
    builtin!(packed "vm.builtin.null_value", null_value),
    builtin!("vm.builtin.memory_manager.clear", memory::clear),
];

/// Allocates a storage that is large enough for a tensor. The arguments are (machine, shape, device
/// index or -1 for the host, dtype, memory scope).
fn alloc_storage(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 5, "vm.builtin.alloc_storage")?;
    let [machine, shape, device_index, dtype, scope, ..] = args else { return Ok(Any::NONE) };
    check_scope(scope.bytes_of_string().unwrap_or_default())?;
    let Some(bytes) = data_size_bytes(borrowed::<Shape>(shape)?.as_slice(), data_type(dtype)?)
    else {
        plain_bail!(
            VALUE_ERROR,
            "The shape of a storage has a negative extent, or more elements than memory can hold";
            "bad shape"
        );
    };
    let device_index = integer(device_index)?;
    let allocator = Context::with_argument(machine, |context| context.allocator(device_index))?;
    Ok(Storage::new(allocator.allocate(bytes)?)?.into())
}

/// Places a tensor in a storage. The arguments are (storage, byte offset, shape, dtype[, memory
/// scope]).
fn alloc_tensor(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 4, "vm.builtin.alloc_tensor")?;
    let [storage, offset, shape, dtype, scope @ ..] = args else { return Ok(Any::NONE) };
    if let [scope, ..] = scope {
        check_scope(scope.get::<String>()?.as_bytes())?;
    }
    place_tensor(storage, offset, shape, dtype, None)
}

/// Places a tensor in a storage, with arguments that need not be adjacent in memory. Reuses a spare
/// tensor if there is one.
///
/// # Errors
/// TypeError for arguments of other types; InternalError if the storage is too small; MemoryError.
#[inline(always)]
pub(crate) fn place_tensor(
    storage: &AnyView<'_>,
    offset: &AnyView<'_>,
    shape: &AnyView<'_>,
    dtype: &AnyView<'_>,
    spares: Option<&mut SpareTensors>,
) -> Result<Any> {
    let (storage, offset) = (borrowed::<Storage>(storage)?, integer(offset)?);
    let (shape, dtype) = (borrowed::<Shape>(shape)?, data_type(dtype)?);
    let block = storage.block();
    let bytes = data_size_bytes(shape.as_slice(), dtype);
    let start = usize::try_from(offset).ok();
    let end = bytes.zip(start).and_then(|(bytes, start)| bytes.checked_add(start));
    if end.is_none_or(|end| end > block.bytes()) {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (offset + needed_size <= this->buffer.size) is false: storage allocation failure, attempted to \
             allocate {} at offset {} in region that is {}bytes",
            bytes.unwrap_or(usize::MAX),
            &offset,
            block.bytes();
            "no {} bytes at {} of {}",
            bytes.unwrap_or(usize::MAX),
            &offset,
            block.bytes()
        );
    }
    let placement = Placement {
        data: block.data(),
        byte_offset: offset.cast_unsigned(),
        device: block.device(),
        dtype,
    };
    let (owner, shape) = (storage.as_object(), shape.as_slice());
    // SAFETY: the storage has space for the tensor, as was just checked.
    let tensor: Tensor = unsafe {
        match spares {
            Some(spares) => spares.tensor_over(owner, &placement, shape)?,
            None => tensor_over(Some(owner), &placement, shape)?,
        }
    };
    Ok(tensor.into())
}

/// Rejects memory scopes that only some devices support, such as textures.
pub(super) fn check_scope(scope: &[u8]) -> Result<()> {
    plain_ensure!(
        matches!(scope, b"" | b"global"),
        INTERNAL_ERROR,
        "Device does not support allocate data space with specified memory scope: {}",
        scope;
        "no scope {}",
        scope
    );
    Ok(())
}

/// Implements `vm.builtin.null_value`: returns None, which replaces a register's value after its
/// last use.
fn null_value(_: &[AnyView<'_>]) -> Result<Any> {
    Ok(Any::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};
    use crate::memory::{Allocator, Kind, Usage};
    use ferrite_core::abi::DLDevice;
    use ferrite_core::tensor::Element;
    use ferrite_core::value::device::kind::CPU;

    const NAME: &str = "vm.builtin.alloc_tensor";

    fn allocator(device_id: i32) -> Allocator {
        Allocator::new(DLDevice { device_type: CPU, device_id }, Kind::Naive).unwrap()
    }

    fn storage(bytes: usize, device_id: i32) -> Storage {
        Storage::new(allocator(device_id).allocate(bytes).unwrap()).unwrap()
    }

    #[test]
    fn a_tensor_lies_in_its_storage_and_keeps_it_alive() {
        let storage = storage(64, 200);
        let shape = Shape::from_slice(&[2, 3]).unwrap();
        let dtype = f32::DTYPE;
        let args =
            [AnyView::from(&storage), 16i64.into(), AnyView::from(&shape), AnyView::from(&dtype)];
        let tensor = call(NAME, &args).get::<Tensor>().unwrap();
        assert_eq!((tensor.shape(), tensor.strides()), (&[2, 3][..], Some(&[3, 1][..])));
        assert_eq!(tensor.dl_tensor().data, storage.block().data());
        assert_eq!((tensor.dl_tensor().byte_offset, tensor.dtype()), (16, f32::DTYPE));
        drop(storage);
        assert_eq!(allocator(200).usage(), Usage { used: 64, peak: 64, reserved: 64 });
        // SAFETY: nobody else uses the data.
        unsafe { tensor.as_mut_slice::<f32>() }.unwrap().fill(1.0);
        drop(tensor);
        assert_eq!(allocator(200).usage().used, 0);
    }

    #[test]
    fn a_tensor_must_fit_its_storage() {
        let storage = storage(64, 201);
        let dtype = f32::DTYPE;
        let refused = |offset: i64, extents: &[i64], bytes: usize| {
            let shape = Shape::from_slice(extents).unwrap();
            let args = [
                AnyView::from(&storage),
                offset.into(),
                AnyView::from(&shape),
                AnyView::from(&dtype),
            ];
            let text = std::format!(
                "Check failed: (offset + needed_size <= this->buffer.size) is false: storage allocation failure, attempted to \
                 allocate {bytes} at offset {offset} in region that is 64bytes"
            );
            failure(NAME, &args, "InternalError", &text);
        };
        refused(0, &[17], 68);
        refused(4, &[16], 64);
        refused(-1, &[1], 4);
        refused(i64::MAX, &[1], 4);
        refused(0, &[-1], usize::MAX);
        refused(0, &[i64::MAX, 3], usize::MAX);
    }

    #[test]
    fn arguments_are_checked() {
        let (storage, shape) = (storage(64, 202), Shape::from_slice(&[1]).unwrap());
        let (zero, dtype) = (AnyView::from(0i64), f32::DTYPE);
        let args = [zero, zero, AnyView::from(&shape), AnyView::from(&dtype)];
        failure(NAME, &args, "TypeError", "Cannot convert from type `int` to `vm.Storage`");
        let text = "`vm.builtin.alloc_tensor` expects at least 4 arguments, but got 3";
        failure(NAME, &args[..3], "TypeError", text);
        let scoped =
            |scope| [AnyView::from(&storage), zero, args[2], args[3], AnyView::from(scope)];
        call(NAME, &scoped(c"global"));
        let text = "Device does not support allocate data space with specified memory scope: global.texture";
        failure(NAME, &scoped(c"global.texture"), "InternalError", text);
    }
}
