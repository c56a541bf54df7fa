//! Reading of constants, which the executable stores in its constant pool.

use core::ffi::c_void;

use ferrite_core::abi::{DLDataType, DLDevice, type_index};
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::refuse_writers;
use ferrite_core::value::device;
use ferrite_core::value::shape::{data_size_bytes, product};
use ferrite_core::{Any, Shape, String, Tensor, plain_bail};

use super::Source;
use super::reader::Reader;
use crate::memory::{Placement, required_alignment, tensor_over};

/// Magic number of a serialised tensor.
const TENSOR_MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;

const CPU: DLDevice = DLDevice { device_type: device::kind::CPU, device_id: 0 };

/// Reads a constant.
pub(super) fn read(reader: &mut Reader<'_>, source: &Source) -> Result<Any> {
    Ok(match reader.i32()? {
        type_index::INT => reader.i64()?.into(),
        type_index::FLOAT => f64::from_bits(reader.u64()?).into(),
        type_index::DATA_TYPE => reader.dtype()?.into(),
        type_index::STR => {
            reader.enter("constant string");
            let text = reader.text()?;
            let text = String::from_bytes(text.of(source.as_bytes()))?;
            reader.enter("constant");
            text.into()
        }
        type_index::SHAPE => read_shape(reader)?.into(),
        type_index::TENSOR => read_tensor(reader, source)?.into(),
        other => plain_bail!(
            INTERNAL_ERROR,
            "Constant pool can only contain Tensor and DLDataType, but got {} when loading the VM constant pool.",
            type_table::type_key_of(other);
            "bad constant"
        ),
    })
}

fn read_shape(reader: &mut Reader<'_>) -> Result<Shape> {
    let extents = reader.words()?;
    let mut buffer = Buffer::try_with_capacity(extents.len())?;
    (0..extents.len())
        .try_for_each(|index| buffer.try_push(extents.get(index).unwrap_or_default()))?;
    Shape::from_slice(&buffer)
}

/// Reads a tensor in the format of TVM's parameter files.
pub(crate) fn read_tensor(reader: &mut Reader<'_>, source: &Source) -> Result<Tensor> {
    reader.enter("constant");
    let (magic, reserved) = (reader.u64()?, reader.u64()?);
    let (device_type, _device_id, ndim) = (reader.i32()?, reader.i32()?, reader.i32()?);
    let dtype = reader.dtype()?;
    let mut shape = Buffer::new();
    // Each extent takes eight bytes, so that a large number ends at the end of the stream.
    for _ in 0..ndim.max(0) {
        shape.try_push(reader.i64()?)?;
    }
    let bytes = reader.size()?;
    let is_valid =
        magic == TENSOR_MAGIC && reserved == 0 && device_type == device::kind::CPU && ndim >= 0;
    if !is_valid || data_bytes(&shape, dtype) != Some(bytes) {
        plain_bail!(INTERNAL_ERROR, "Invalid DLTensor file format"; "bad tensor");
    }
    place(reader.bytes(bytes)?, source, &shape, dtype)
}

/// Returns the size of a serialised tensor in bytes, where each element takes whole bytes. Returns
/// `None` if a tensor in memory would have another size.
fn data_bytes(shape: &[i64], dtype: DLDataType) -> Option<usize> {
    let elements = usize::try_from(product(shape)?).ok()?;
    let bytes = elements.checked_mul(usize::from(dtype.bits).div_ceil(8))?;
    (data_size_bytes(shape, dtype) == Some(bytes)).then_some(bytes)
}

/// Creates a tensor over its data in the source if the data is aligned, otherwise over a copy. Rust
/// code cannot borrow it for writing: the source may be bytes that the program has, or read-only
/// memory, and machines share constants.
fn place(data: &[u8], source: &Source, shape: &[i64], dtype: DLDataType) -> Result<Tensor> {
    let tensor = create_over_source(data, source, shape, dtype)?;
    // SAFETY: the tensor is new.
    unsafe { refuse_writers(tensor.as_object().as_ptr()) };
    Ok(tensor)
}

fn create_over_source(
    data: &[u8],
    source: &Source,
    shape: &[i64],
    dtype: DLDataType,
) -> Result<Tensor> {
    let keeper = match source {
        Source::Bytes(bytes) => Any::from(bytes.clone()).into_object().ok(),
        Source::Static(_) => None,
    };
    // Bytes that are not an object are too few for a tensor.
    let is_kept = keeper.is_some() || matches!(source, Source::Static(_));
    let start = data.as_ptr().cast_mut().cast::<c_void>();
    if is_kept && !data.is_empty() && start.addr().is_multiple_of(required_alignment(dtype)) {
        let placement = Placement { data: start, byte_offset: 0, device: CPU, dtype };
        // SAFETY: the data lies in the source, which the keeper keeps unless it is static; its size
        // was checked.
        return unsafe { tensor_over(keeper.as_ref(), &placement, shape) };
    }
    let tensor = Tensor::empty(shape, dtype, CPU)?;
    let target = tensor.dl_tensor().data.cast::<u8>();
    if !data.is_empty() {
        // SAFETY: the tensor is new and has as many bytes, as was checked.
        unsafe { target.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
    }
    Ok(tensor)
}
