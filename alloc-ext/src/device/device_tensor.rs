//! Safe tensors in device or main memory, for Rust programs.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use ferrite_core::abi::{DLDataType, DLTensor};
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::{Element, Tensor, TensorView, is_host_accessible};
use ferrite_core::value::dtype;
use ferrite_core::{AnyView, plain_bail, plain_ensure};

use super::backend::Region;
use super::copy::{copy, copy_tensor, is_main_memory};
use super::handle::Device;
use super::stream;
use super::tensor::empty;

/// A compact tensor on a device or in main memory. Dropping the last reference frees the memory;
/// commands queued before that may still use it.
///
/// Copies run on the current stream of the thread and device, after all commands queued there.
/// Copies from and to slices are complete when the call returns. Clones share the memory, and so do
/// functions that receive the tensor as an argument.
///
/// ```
/// use ferrite_alloc_ext::device::{Device, DeviceTensor};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let device = Device::all().next().unwrap_or(Device::CPU);
/// let there = DeviceTensor::from_slice(device, &[1.0f32, 2.0, 3.0, 4.0], &[2, 2])?;
/// let back = there.to_device(Device::CPU)?;
/// assert_eq!(back.as_tensor().as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
///
/// let mut values = [0.0f32; 4];
/// there.read_into(&mut values)?;
/// assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
/// assert!(there.read::<i32>().is_err()); // another type
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DeviceTensor(Tensor);

impl DeviceTensor {
    /// Creates a tensor. Its elements are zero on the CPU, and unspecified on other devices.
    ///
    /// # Errors
    /// ValueError for an invalid shape; InternalError if the build has no back end for the device;
    /// MemoryError; errors of the driver.
    pub fn empty(device: Device, shape: &[i64], dtype: DLDataType) -> Result<DeviceTensor> {
        empty(shape, dtype, device.into()).map(DeviceTensor)
    }

    /// Creates a tensor and copies `elements` into it, in row-major order.
    ///
    /// # Errors
    /// ValueError if the shape has a different number of elements than the slice; errors of
    /// [`empty`](DeviceTensor::empty).
    pub fn from_slice<T: Element>(
        device: Device,
        elements: &[T],
        shape: &[i64],
    ) -> Result<DeviceTensor> {
        if is_cpu(device) {
            return Tensor::from_slice(elements, shape).map(DeviceTensor);
        }
        let tensor = DeviceTensor::empty(device, shape, T::DTYPE)?;
        tensor.copy_from_slice(elements)?;
        Ok(tensor)
    }

    /// Returns the device that the tensor is on.
    pub fn device(&self) -> Device {
        self.record().device.into()
    }

    /// Returns the shape: the extent of each dimension, in elements.
    pub fn shape(&self) -> &[i64] {
        self.0.shape()
    }

    /// Returns the data type of the elements.
    pub fn dtype(&self) -> DLDataType {
        self.record().dtype
    }

    /// Borrows the tensor object.
    pub fn as_tensor(&self) -> &Tensor {
        &self.0
    }

    /// Converts into the tensor object.
    pub fn into_tensor(self) -> Tensor {
        self.0
    }

    /// Copies all elements from a slice.
    ///
    /// # Errors
    /// TypeError if `T` is not the element type; ValueError if the slice has a different length,
    /// for read-only tensors, and for tensors in main memory, whose elements may be borrowed;
    /// errors of the driver.
    pub fn copy_from_slice<T: Element>(&self, elements: &[T]) -> Result<()> {
        self.check_elements::<T>(elements.len())?;
        self.check_target()?;
        let source = main_memory(elements.as_ptr().cast_mut().cast());
        // SAFETY: both regions have this size, and the slice is borrowed until the copy is
        // complete.
        unsafe { self.copy_and_wait(source, self.region(), size_of_val(elements)) }
    }

    /// Copies all elements to a slice.
    ///
    /// # Errors
    /// TypeError if `T` is not the element type; ValueError if the slice has a different length;
    /// RuntimeError while the elements are borrowed for writing; errors of the driver.
    pub fn read_into<T: Element>(&self, elements: &mut [T]) -> Result<()> {
        self.check_elements::<T>(elements.len())?;
        let _guard = TensorView::from(&self.0).read_guard()?;
        let target = main_memory(elements.as_mut_ptr().cast());
        // SAFETY: both regions have this size, and the slice is borrowed until the copy is
        // complete. Any bit pattern is a valid element.
        unsafe { self.copy_and_wait(self.region(), target, size_of_val(elements)) }
    }

    /// Copies all elements to a new buffer, which derefs to a slice.
    ///
    /// # Errors
    /// Errors of [`read_into`](DeviceTensor::read_into); MemoryError.
    pub fn read<T: Element>(&self) -> Result<Buffer<T>> {
        self.check_type::<T>()?;
        let mut elements = Buffer::new();
        // SAFETY: any bit pattern is a valid element.
        elements.try_resize(self.bytes() / size_of::<T>(), unsafe {
            MaybeUninit::zeroed().assume_init()
        })?;
        self.read_into(elements.as_mut_slice())?;
        Ok(elements)
    }

    /// Copies all elements from another tensor of the same size. A copy within one device may be
    /// incomplete when this returns; other copies are complete.
    ///
    /// # Errors
    /// ValueError for different sizes or dtypes, for a read-only target, and for a target in main
    /// memory, whose elements may be borrowed; RuntimeError for devices of two different types;
    /// errors of the driver.
    pub fn copy_from(&self, other: &DeviceTensor) -> Result<()> {
        self.check_target()?;
        plain_ensure!(
            self.dtype() == other.dtype(),
            VALUE_ERROR,
            "Both tensors must have the same dtype"
        );
        let (from, to) = (other.device(), self.device());
        let device = device_of_copy(from, to);
        let _guard = TensorView::from(&other.0).read_guard()?;
        // SAFETY: the tensors are alive; back ends keep memory that queued copies use, and a copy
        // from main memory completes below.
        unsafe { copy_tensor(other.record(), self.record(), stream::current(device))? };
        if from == to { Ok(()) } else { device.synchronize() }
    }

    /// Returns a copy on another device. Copies between devices of two different types go through
    /// main memory.
    ///
    /// # Errors
    /// MemoryError; errors of the drivers.
    pub fn to_device(&self, device: Device) -> Result<DeviceTensor> {
        let (from, to) = (self.device(), device);
        let is_direct = from.device_type() == to.device_type()
            || is_main_memory(from.device_type())
            || is_main_memory(to.device_type());
        if !is_direct {
            return self.to_device(Device::CPU)?.to_device(device);
        }
        let made = DeviceTensor::empty(device, self.shape(), self.dtype())?;
        let _guard = TensorView::from(&self.0).read_guard()?;
        // SAFETY: the regions have this size, the new tensor has no other reference, and the copy
        // completes in the call.
        unsafe { self.copy_and_wait(self.region(), made.region(), self.bytes())? };
        Ok(made)
    }

    fn record(&self) -> &DLTensor {
        self.0.dl_tensor()
    }

    fn region(&self) -> Region {
        let record = self.record();
        Region { device: record.device, data: record.data, offset: record.byte_offset as usize }
    }

    /// Returns the size in bytes. Constructors have checked that it does not overflow.
    fn bytes(&self) -> usize {
        self.0.as_tensor_ref().size_bytes().unwrap_or(0)
    }

    fn check_type<T: Element>(&self) -> Result<()> {
        if self.dtype() == T::DTYPE {
            return Ok(());
        }
        plain_bail!(
            TYPE_ERROR,
            "The tensor has elements of {}, not of {}",
            &dtype::to_string(self.dtype())?,
            &dtype::to_string(T::DTYPE)?
        )
    }

    fn check_elements<T: Element>(&self, count: usize) -> Result<()> {
        self.check_type::<T>()?;
        let expected = self.bytes() / size_of::<T>();
        plain_ensure!(
            expected == count,
            VALUE_ERROR,
            "The tensor has {} elements, the slice {}",
            expected,
            count
        );
        Ok(())
    }

    /// Returns ValueError if the tensor is read-only, or in main memory, where a slice from
    /// [`Tensor::as_slice`] may be borrowed.
    fn check_target(&self) -> Result<()> {
        let in_main_memory = is_host_accessible(self.record().device);
        plain_ensure!(
            !in_main_memory,
            VALUE_ERROR,
            "A tensor in main memory may be borrowed: make a new one"
        );
        TensorView::from(&self.0).check_writable()
    }

    /// Copies on the current stream of the device, and waits for completion.
    ///
    /// # Safety
    /// Both regions must be at least `bytes` long, and must not be written concurrently until the
    /// copy is complete.
    unsafe fn copy_and_wait(&self, from: Region, to: Region, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let device = device_of_copy(from.device.into(), to.device.into());
        // SAFETY: the caller guarantees the regions; the code that set the stream guarantees that.
        unsafe { copy(from, to, bytes, stream::current(device))? };
        if is_main_memory(device.device_type()) { Ok(()) } else { device.synchronize() }
    }
}

/// Returns the device whose stream runs a copy: the source's device, or the target's if the source
/// is in main memory.
fn device_of_copy(from: Device, to: Device) -> Device {
    if is_main_memory(from.device_type()) { to } else { from }
}

fn is_cpu(device: Device) -> bool {
    device.device_type() == Device::CPU.device_type()
}

fn main_memory(data: *mut c_void) -> Region {
    Region { device: Device::CPU.into(), data, offset: 0 }
}

impl TryFrom<Tensor> for DeviceTensor {
    type Error = Error;

    /// Wraps an existing tensor.
    ///
    /// # Errors
    /// ValueError if it is not contiguous, has no data, or its size overflows; InternalError if the
    /// build has no back end for its device.
    fn try_from(tensor: Tensor) -> Result<DeviceTensor> {
        let reader = tensor.as_tensor_ref();
        plain_ensure!(reader.is_contiguous(), VALUE_ERROR, "Copies need contiguous tensors");
        let Some(bytes) = reader.size_bytes() else {
            plain_bail!(VALUE_ERROR, "The tensor has more bytes than memory");
        };
        plain_ensure!(
            bytes == 0 || !reader.data_ptr().is_null(),
            VALUE_ERROR,
            "The tensor has no data"
        );
        Device::from(reader.device()).backend()?;
        Ok(DeviceTensor(tensor))
    }
}

impl<'a> From<&'a DeviceTensor> for AnyView<'a> {
    fn from(tensor: &'a DeviceTensor) -> AnyView<'a> {
        AnyView::from(&tensor.0)
    }
}
