//! Copies of tensors that are not aligned.

use ferrite_core::abi::{DLDataType, DLDevice};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::{Any, Tensor};

const BYTE: DLDataType = DLDataType { code: 1, bits: 8, lanes: 1 };
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// Where the elements of a copy are.
#[derive(Clone, Copy, Debug)]
pub enum Shift {
    /// This number of bytes behind an aligned address, by the data pointer.
    Pointer(usize),
    /// Bytes added to the byte offset.
    Offset(usize),
}

pub const SHIFTS: [Shift; 6] = [
    Shift::Pointer(4),
    Shift::Pointer(8),
    Shift::Pointer(1),
    Shift::Offset(4),
    Shift::Offset(8),
    Shift::Offset(64),
];

/// Returns a copy of a tensor whose elements are shifted.
pub fn shifted(tensor: &Tensor, shift: Shift) -> Result<Tensor> {
    let bytes = tensor.as_tensor_ref().size_bytes().expect("a size");
    let (Shift::Pointer(by) | Shift::Offset(by)) = shift;
    let block = Tensor::empty(&[(bytes + by) as i64], BYTE, CPU)?;
    let start = block.dl_tensor().data;
    assert!(start.addr().is_multiple_of(64), "tensors of the library are aligned");
    // SAFETY: the block has as many bytes behind the start.
    unsafe {
        let source =
            tensor.dl_tensor().data.cast::<u8>().add(tensor.dl_tensor().byte_offset as usize);
        start.cast::<u8>().add(by).copy_from_nonoverlapping(source, bytes);
    }
    let mut prototype = *tensor.dl_tensor();
    (prototype.data, prototype.byte_offset) = match shift {
        Shift::Pointer(by) => (start.wrapping_byte_add(by), 0),
        Shift::Offset(by) => (start, by as u64),
    };
    // SAFETY: the data lies in the block, which the view keeps; its lists are those of the tensor.
    unsafe { Tensor::from_owner(block.as_object(), &prototype) }
}

/// Returns a value with all its tensors shifted, elements of tuples included.
pub fn shifted_value(value: &Any, shift: Shift) -> Result<Any> {
    use ferrite_alloc_ext::containers::ArrayObject;
    if let Some(tensor) = value.try_get::<Tensor>()? {
        return Ok(shifted(&tensor, shift)?.into());
    }
    let Some(tuple) = value.try_get::<ArrayObject>()? else { return Ok(value.clone()) };
    let parts = tuple.as_slice().iter().map(|part| shifted_value(part, shift));
    Ok(ArrayObject::from_slice(&parts.collect::<Result<Vec<_>>>()?)?.into())
}
