//! Arrays as bytes: the record that earlier releases store in files of weights and in JSON.
//!
//! ```text
//! u64 magic, u64 reserved, i32 device type and id, i32 ndim, u8 code, u8 bits, u16 lanes, ndim * i64 extent, i64 bytes, data
//! ```
//!
//! All numbers are little-endian. Data types are those of earlier releases, and the device is the
//! CPU.

use ferrite_alloc_ext::device::{self, Region};
use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{Tensor, plain_ensure, plain_error};

use crate::{array, back_end, crossing, dtype};

const MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;
const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

/// Appends 64-bit numbers.
///
/// # Errors
/// MemoryError.
pub fn put(out: &mut Buffer<u8>, numbers: &[u64]) -> Result<()> {
    numbers.iter().try_for_each(|number| Ok(out.try_extend_from_slice(&number.to_le_bytes())?))
}

/// Appends the record of an array to `out`: its shape, data type and elements.
///
/// # Errors
/// ValueError if the array is not contiguous; TypeError if earlier releases lack its data type;
/// errors of its device; MemoryError.
pub fn write_array(out: &mut Buffer<u8>, tensor: &Tensor) -> Result<()> {
    let former = crossing::to_former(tensor)?;
    let array = former.as_ref().unwrap_or(tensor);
    let DLTensor { dtype: DLDataType { code, bits, lanes }, ndim, .. } = *array.dl_tensor();
    plain_ensure!(array.is_contiguous(), VALUE_ERROR, "Only contiguous arrays can be saved");
    let bytes = dtype::array_bytes(array.shape(), array.dl_tensor().dtype).unwrap_or(0);
    put(out, &[MAGIC, 0, kind::CPU as u64])?;
    out.try_extend_from_slice(&ndim.to_le_bytes())?;
    out.try_extend_from_slice(&[code, bits])?;
    out.try_extend_from_slice(&lanes.to_le_bytes())?;
    for extent in array.shape() {
        out.try_extend_from_slice(&extent.to_le_bytes())?;
    }
    put(out, &[bytes as u64])?;
    copy(out, array.dl_tensor(), bytes)
}

/// Appends the elements of an array on any device.
fn copy(out: &mut Buffer<u8>, array: &DLTensor, bytes: usize) -> Result<()> {
    let copied = Tensor::empty(&[bytes as i64], DLDataType { code: 1, bits: 8, lanes: 1 }, CPU)?;
    if bytes != 0 {
        let from =
            Region { device: array.device, data: array.data, offset: array.byte_offset as usize };
        let to = Region { device: CPU, data: copied.dl_tensor().data, offset: 0 };
        // SAFETY: both regions have as many bytes; no one else has the new tensor.
        unsafe {
            device::copy(from, to, bytes, core::ptr::null_mut())?;
            back_end::synchronize(array.device, core::ptr::null_mut())?;
        }
    }
    Ok(out.try_extend_from_slice(&copied.as_slice::<u8>()?)?)
}

/// Cursor over bytes.
pub struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// Reads `count` bytes.
    ///
    /// # Errors
    /// InternalError if there are fewer.
    pub fn bytes(&mut self, count: u64) -> Result<&'a [u8]> {
        let count = usize::try_from(count).ok().filter(|count| *count <= self.0.len());
        let (taken, rest) = self.0.split_at(count.ok_or_else(malformed)?);
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.bytes(N as u64)?.try_into().map_err(|_| malformed())
    }

    /// Reads a 64-bit number.
    ///
    /// # Errors
    /// InternalError if there are fewer bytes.
    pub fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads an array.
    ///
    /// # Errors
    /// InternalError for malformed bytes; ValueError for a data type that arrays do not support;
    /// MemoryError.
    pub fn tensor(&mut self) -> Result<Tensor> {
        let (magic, _reserved, _device) = (self.u64()?, self.u64()?, self.u64()?);
        let ndim = i32::from_le_bytes(self.array()?);
        let ([code, bits], lanes) = (self.array()?, u16::from_le_bytes(self.array()?));
        // Each extent has eight bytes, so that a number that lies allocates nothing.
        let extents =
            u64::try_from(ndim).ok().and_then(|ndim| ndim.checked_mul(8)).ok_or_else(malformed)?;
        let mut shape = Buffer::new();
        for extent in self.bytes(extents)?.chunks_exact(8) {
            shape.try_push(i64::from_le_bytes(extent.try_into().map_err(|_| malformed())?))?;
        }
        let former = array::data_type(code.into(), bits.into(), lanes.into())?;
        let count = self.u64()?;
        let data = self.bytes(count)?;
        if magic != MAGIC || dtype::array_bytes(&shape, former) != Some(data.len()) {
            return Err(malformed());
        }
        let array = array::empty(&shape, former, CPU)?;
        if !data.is_empty() {
            // SAFETY: the new array has as many bytes, and no one else has it.
            unsafe {
                array
                    .dl_tensor()
                    .data
                    .cast::<u8>()
                    .copy_from_nonoverlapping(data.as_ptr(), data.len())
            };
        }
        Ok(crossing::to_current(&array)?.unwrap_or(array))
    }
}

/// Creates the error for malformed bytes.
#[cold]
pub fn malformed() -> Error {
    plain_error!(INTERNAL_ERROR, "Invalid parameters file format")
}
