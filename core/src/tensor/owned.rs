//! Tensors that own their data, which the library allocates in main memory.

use core::alloc::Layout;
use core::ffi::c_void;
use core::ptr::NonNull;

use super::{Element, Tensor};
use crate::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject, type_index};
use crate::error::{Result, out_of_memory};
use crate::object::object_alloc::{ObjectRecord, allocate};
use crate::platform::memory;
use crate::value::device;
use crate::value::shape::{data_size_bytes, row_major_strides_reversed};
use crate::{plain_bail, plain_ensure};

/// Alignment of the data in bytes: the largest that vector units of hosts require. Compiled kernels
/// rely on it.
const DATA_ALIGNMENT: usize = 64;

/// Record of a tensor that owns its data. Shape and strides follow inline, `ndim` values each.
#[repr(C)]
struct OwnedTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    data: DataBlock,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(core::mem::offset_of!(OwnedTensor, data) == 72);
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: () = assert!(core::mem::offset_of!(OwnedTensor, data) == 64);

// SAFETY: the header comes first; the data block is released once, when the object is destroyed.
unsafe impl ObjectRecord for OwnedTensor {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is alive until its destruction ends, and the block is unused
        // afterwards.
        unsafe { (&raw mut (*this.cast::<OwnedTensor>()).data).drop_in_place() };
    }
}

/// A block of zero-initialised main memory. For zero bytes, nothing is allocated.
struct DataBlock {
    block: Option<NonNull<u8>>,
    layout: Layout,
}

impl DataBlock {
    fn zeroed(bytes: usize) -> Result<DataBlock> {
        let Ok(layout) = Layout::from_size_align(bytes, DATA_ALIGNMENT) else {
            return Err(out_of_memory(bytes));
        };
        if bytes == 0 {
            return Ok(DataBlock { block: None, layout });
        }
        let Some(block) = memory::allocate_zeroed(layout) else { return Err(out_of_memory(bytes)) };
        Ok(DataBlock { block: Some(block), layout })
    }

    fn as_ptr(&self) -> *mut c_void {
        self.block.map_or(core::ptr::null_mut(), |block| block.as_ptr().cast())
    }
}

impl Drop for DataBlock {
    fn drop(&mut self) {
        if let Some(block) = self.block {
            // SAFETY: the block came from `allocate_zeroed` with this layout, and is released once.
            unsafe { memory::release_zeroed(block, self.layout) };
        }
    }
}

impl Tensor {
    /// Creates a compact row-major tensor of zeros in main memory, aligned to 64 bytes. The data
    /// pointer of an empty tensor is null.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::abi::{DLDataType, DLDevice};
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let cpu = DLDevice { device_type: ferrite_core::value::device::kind::CPU, device_id: 0 };
    /// let scores = Tensor::empty(&[8, 10], DLDataType::parse(b"float32")?, cpu)?;
    /// assert_eq!((scores.shape(), scores.as_slice::<f32>()?.len()), (&[8, 10][..], 80));
    /// assert!(Tensor::empty(&[-1], DLDataType::parse(b"float32")?, cpu).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// ValueError if an extent is negative, if the size overflows, if the number of dimensions
    /// overflows `i32` or if `device` is not the CPU. MemoryError.
    pub fn empty(shape: &[i64], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
        if device.device_type != device::kind::CPU {
            let name = device::type_name(device.device_type).unwrap_or("unknown");
            plain_bail!(
                VALUE_ERROR,
                "the library allocates tensors in main memory only, not on `{}`",
                name
            );
        }
        let Ok(ndim) = i32::try_from(shape.len()) else {
            plain_bail!(VALUE_ERROR, "a tensor cannot have {} dimensions", shape.len());
        };
        let Some(bytes) = data_size_bytes(shape, dtype) else {
            plain_bail!(
                VALUE_ERROR,
                "the shape has a negative extent, or more elements than memory can hold"
            );
        };
        let data = DataBlock::zeroed(bytes)?;
        // Cannot overflow: the slice of extents already takes half of it.
        let trailing_bytes = 2 * size_of_val(shape);
        let init = |record: *mut OwnedTensor| {
            // SAFETY: `record` is a new object with space for both lists after it, aligned as the
            // record is.
            unsafe {
                let extents = record.add(1).cast::<i64>();
                let strides = extents.add(shape.len());
                extents.copy_from_nonoverlapping(shape.as_ptr(), shape.len());
                for (index, stride) in row_major_strides_reversed(shape).enumerate() {
                    strides.add(shape.len() - 1 - index).write(stride);
                }
                (*record).tensor = DLTensor {
                    data: data.as_ptr(),
                    device,
                    ndim,
                    dtype,
                    shape: extents,
                    strides,
                    byte_offset: 0,
                };
                (&raw mut (*record).data).write(data);
            }
        };
        // SAFETY: `init` writes every field beside the header, and index 70 is that of tensors.
        let object = unsafe { allocate::<OwnedTensor>(type_index::TENSOR, trailing_bytes, init) }?;
        Ok(Tensor(object))
    }

    /// Creates a tensor in main memory with a copy of `elements` in row-major order.
    ///
    /// # Errors
    /// ValueError if the number of elements does not match `shape`. Otherwise as [`Tensor::empty`].
    pub fn from_slice<T: Element>(elements: &[T], shape: &[i64]) -> Result<Tensor> {
        let cpu = DLDevice { device_type: device::kind::CPU, device_id: 0 };
        let tensor = Tensor::empty(shape, T::DTYPE, cpu)?;
        // SAFETY: the tensor is not shared yet.
        let room = unsafe { tensor.as_mut_slice::<T>() }?;
        let (expected, actual) = (room.len(), elements.len());
        plain_ensure!(
            expected == actual,
            VALUE_ERROR,
            "the shape has {} elements but {} were given",
            expected,
            actual
        );
        room.copy_from_slice(elements);
        Ok(tensor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectClass;

    const CPU: DLDevice = DLDevice { device_type: device::kind::CPU, device_id: 0 };

    #[test]
    fn a_new_tensor_is_compact_aligned_and_zero() {
        let tensor = Tensor::empty(&[2, 3], f32::DTYPE, CPU).unwrap();
        assert_eq!(tensor.shape(), [2, 3]);
        assert_eq!(tensor.strides(), Some(&[3, 1][..]));
        assert!(tensor.as_tensor_ref().is_aligned(64));
        assert_eq!(tensor.as_slice::<f32>().unwrap(), [0.0; 6]);
    }

    #[test]
    fn scalars_and_empty_tensors_work() {
        let scalar = Tensor::from_slice(&[42u8], &[]).unwrap();
        assert_eq!(scalar.as_slice::<u8>().unwrap(), [42]);
        let empty = Tensor::empty(&[0, i64::MAX, 5], f64::DTYPE, CPU).unwrap();
        assert!(empty.as_tensor_ref().data_ptr().is_null());
        assert!(empty.as_slice::<f64>().unwrap().is_empty());
    }

    #[test]
    fn lists_lie_in_place_behind_the_record() {
        let tensor = Tensor::from_slice(&[1i16, 2], &[2]).unwrap();
        let offset = tensor.shape().as_ptr().addr() - tensor.as_object().as_ptr().addr();
        assert_eq!(offset, size_of::<OwnedTensor>());
    }

    #[test]
    fn impossible_tensors_are_refused() {
        for shape in [&[-1][..], &[i64::MAX, 3], &[1 << 62]] {
            assert_eq!(
                Tensor::empty(shape, f64::DTYPE, CPU).unwrap_err().kind_bytes(),
                b"ValueError"
            );
        }
        let cuda = DLDevice { device_type: 2, device_id: 0 };
        assert_eq!(Tensor::empty(&[1], f32::DTYPE, cuda).unwrap_err().kind_bytes(), b"ValueError");
        assert_eq!(Tensor::from_slice(&[1i32], &[2]).unwrap_err().kind_bytes(), b"ValueError");
    }
}
