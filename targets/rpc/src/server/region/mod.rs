//! The memory behind a data handle, and parts of it.

use core::ffi::c_void;

use ferrite_core::abi::DLTensor;
use ferrite_core::tensor::TensorRef;

use super::failure::{Failure, refused};

#[cfg_attr(not(feature = "devices"), path = "main_memory.rs")]
mod on_device;

pub(super) use on_device::Place;

/// Bytes of a tensor: on a device, or in main memory, which is all that boards have.
#[derive(Clone, Copy)]
pub(super) struct DataRegion {
    pub(super) place: Place,
    pub(super) bytes: usize,
}

impl DataRegion {
    /// Returns the memory of a tensor. It is empty for tensors that are not contiguous, whose
    /// elements clients would not find.
    pub(super) fn of(tensor: &DLTensor) -> DataRegion {
        // SAFETY: tensors of the table and of arguments have `ndim` extents and strides.
        let reader = unsafe { TensorRef::from_raw(tensor) };
        let bytes = if reader.is_contiguous() { reader.size_bytes().unwrap_or(0) } else { 0 };
        DataRegion { place: Place::of(tensor), bytes }
    }

    /// Returns the part that begins `offset` bytes behind the first one and has `bytes` bytes.
    pub(super) fn part(self, offset: usize, bytes: usize) -> Result<DataRegion, Failure> {
        match self.bytes.checked_sub(offset) {
            Some(left) if left >= bytes => Ok(DataRegion { place: self.place.at(offset), bytes }),
            _ => {
                Err(refused!("ValueError: outside of the data of the handle", "ValueError: range"))
            }
        }
    }

    /// Returns data pointer and byte offset of a tensor in the region. In main memory the offset is
    /// 0, which kernels compiled for whole tensors demand.
    pub(super) fn address(&self) -> (*mut c_void, u64) {
        self.place.address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrite_core::Tensor;

    #[test]
    fn parts_of_regions_stay_inside() {
        let tensor = Tensor::from_slice(&[0u8; 16], &[16]).unwrap();
        let start = tensor.dl_tensor().data;
        let region = DataRegion::of(tensor.dl_tensor());
        for (offset, bytes) in [(0, 16), (16, 0), (15, 1)] {
            let part = region.part(offset, bytes).ok().unwrap();
            assert_eq!(part.address(), (start.wrapping_byte_add(offset), 0));
            assert_eq!(part.bytes, bytes);
        }
        for (offset, bytes) in
            [(0, 17), (17, 0), (1, 16), (usize::MAX, 1), (usize::MAX, usize::MAX)]
        {
            assert!(region.part(offset, bytes).is_err(), "{offset} {bytes}");
        }
    }
}
