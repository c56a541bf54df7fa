//! Read access to a borrowed DLTensor: its geometry, and its elements as typed slices.

use core::ffi::c_void;
use core::marker::PhantomData;

use super::Element;
use crate::abi::{DLDataType, DLDevice, DLTensor, type_index};
use crate::error::Result;
use crate::error::message::SHORT;
use crate::platform::text::SliceWriter;
use crate::value::any::AnyView;
use crate::value::device::kind;
use crate::value::dtype::write_dtype;
use crate::value::shape;
use crate::{plain_bail, plain_ensure};

/// A borrowed DLTensor, which belongs to a tensor object or to the caller. It is `Copy` and owns
/// nothing.
#[derive(Clone, Copy)]
pub struct TensorRef<'a> {
    tensor: *const DLTensor,
    lifetime: PhantomData<&'a DLTensor>,
}

impl<'a> TensorRef<'a> {
    /// Borrows a DLTensor.
    ///
    /// # Safety
    /// For `'a`, `tensor` must be valid, and `shape` and `strides` must each be null or point to
    /// `ndim` readable values; if `ndim` is not positive, they may be any pointers. Unless device,
    /// dtype or extents rule out access to the elements, these must start at `data` plus
    /// `byte_offset`, be initialised, and only be written through [`TensorRef::as_mut_slice`].
    pub const unsafe fn from_raw(tensor: *const DLTensor) -> TensorRef<'a> {
        TensorRef { tensor, lifetime: PhantomData }
    }

    /// Borrows the tensor that a view contains: a tensor object or a DLTensor pointer. Returns
    /// `None` for other values and null pointers.
    pub fn from_view(view: &AnyView<'a>) -> Option<TensorRef<'a>> {
        let tensor: *const DLTensor = match view.type_index() {
            type_index::TENSOR => {
                let object = view.object_ptr()?;
                // SAFETY: every tensor object has a DLTensor directly after the header (ABI).
                unsafe { object.as_ptr().add(1).cast() }
            }
            type_index::DL_TENSOR_PTR => view.payload_pointer().cast(),
            _ => return None,
        };
        // SAFETY: the content of a view is valid for its lifetime.
        (!tensor.is_null()).then(|| unsafe { TensorRef::from_raw(tensor) })
    }

    /// Returns the borrowed DLTensor.
    pub const fn as_raw(self) -> *const DLTensor {
        self.tensor
    }

    fn get(self) -> DLTensor {
        // SAFETY: the record is valid for the lifetime of the reference.
        unsafe { *self.tensor }
    }

    /// Borrows the shape. It is empty if the number of dimensions is negative or the list is null.
    pub fn shape(self) -> &'a [i64] {
        let tensor = self.get();
        // SAFETY: `from_raw` guarantees `ndim` extents.
        unsafe { extents(tensor.shape, tensor.ndim) }.unwrap_or_default()
    }

    /// Borrows the strides, in elements. Returns `None` for a compact tensor without strides.
    pub fn strides(self) -> Option<&'a [i64]> {
        let tensor = self.get();
        // SAFETY: `from_raw` guarantees `ndim` strides.
        unsafe { extents(tensor.strides, tensor.ndim) }
    }

    /// Returns the number of dimensions, or 0 if the stored number is negative.
    pub fn ndim(self) -> usize {
        usize::try_from(self.get().ndim).unwrap_or(0)
    }

    /// Returns the element type.
    pub fn dtype(self) -> DLDataType {
        self.get().dtype
    }

    /// Returns the device that stores the data.
    pub fn device(self) -> DLDevice {
        self.get().device
    }

    /// Returns the distance in bytes from the data pointer to the first element.
    pub fn byte_offset(self) -> u64 {
        self.get().byte_offset
    }

    /// Returns the data pointer. It is an address only on devices with direct addressing; on others
    /// it is a handle.
    pub fn data_ptr(self) -> *mut c_void {
        self.get().data
    }

    /// Returns the address of the first byte of the elements, which is the data pointer plus the
    /// byte offset. It is null if the data pointer is null, and meaningless on devices without
    /// direct addressing.
    pub fn first_byte(self) -> *mut u8 {
        let DLTensor { data, byte_offset, .. } = self.get();
        if data.is_null() {
            return core::ptr::null_mut();
        }
        data.cast::<u8>().wrapping_add(usize::try_from(byte_offset).unwrap_or(usize::MAX))
    }

    /// Computes the number of elements. Returns `None` if an extent is negative or the number
    /// overflows.
    pub fn numel(self) -> Option<i64> {
        shape::product(self.shape())
    }

    /// Computes the size of the elements in bytes, as if they were compact. Returns `None` if it
    /// exceeds the maximum allocation.
    pub fn size_bytes(self) -> Option<usize> {
        shape::data_size_bytes(self.shape(), self.dtype())
    }

    /// Returns `true` if the elements are contiguous in row-major order.
    ///
    /// # Upstream
    /// `IsContiguous` of `include/tvm/ffi/container/tensor.h`.
    pub fn is_contiguous(self) -> bool {
        self.strides().is_none_or(|strides| shape::is_contiguous(self.shape(), strides))
    }

    /// Returns `true` if the first element is aligned to `alignment` bytes. On devices without
    /// direct addressing, only the byte offset is checked.
    ///
    /// Every tensor counts as aligned to 0 bytes.
    ///
    /// # Upstream
    /// `IsAligned` of `include/tvm/ffi/container/tensor.h`.
    pub fn is_aligned(self, alignment: u64) -> bool {
        alignment == 0 || self.start().is_multiple_of(alignment)
    }

    /// Returns the address of the first element, or its byte offset on devices without direct
    /// addressing.
    pub(super) fn start(self) -> u64 {
        let tensor = self.get();
        let base = if is_direct_address(tensor.device) { tensor.data.addr() as u64 } else { 0 };
        base.wrapping_add(tensor.byte_offset)
    }

    /// Returns the address range of the elements, for any strides: the first byte and one past the
    /// last. Empty if there are no elements; all of memory if the strides lead beyond it.
    pub(super) fn span(self) -> (u64, u64) {
        let start = self.start();
        if let Some(bytes) =
            self.compact_numel().and_then(|numel| numel.checked_mul(self.element_bytes()))
        {
            return (start, start.saturating_add_signed(bytes));
        }
        match self.reach() {
            Some((low, high)) => {
                (start.saturating_add_signed(low), start.saturating_add_signed(high))
            }
            None => (0, u64::MAX),
        }
    }

    /// Returns the byte range of the elements relative to the first element, (0, 0) if there are no
    /// elements. `None` on overflow.
    fn reach(self) -> Option<(i64, i64)> {
        let (shape, strides) = (self.shape(), self.strides());
        let (mut low, mut high, mut compact) = (0i64, 1i64, 1i64);
        for (axis, extent) in shape.iter().enumerate().rev() {
            if *extent <= 0 {
                return Some((0, 0));
            }
            let reach =
                strides.map_or(compact, |strides| strides[axis]).checked_mul(*extent - 1)?;
            (low, high) = (low.checked_add(reach.min(0))?, high.checked_add(reach.max(0))?);
            compact = compact.saturating_mul(*extent);
        }
        let bytes = self.element_bytes();
        Some((low.checked_mul(bytes)?, high.checked_mul(bytes)?))
    }

    /// Returns the size of an element in bytes, rounded up.
    #[inline(always)]
    fn element_bytes(self) -> i64 {
        let dtype = self.dtype();
        (i64::from(dtype.bits) * i64::from(dtype.lanes) + 7) / 8
    }

    /// Borrows the elements of a contiguous tensor in host-accessible memory.
    /// [`Tensor::as_slice`](super::Tensor::as_slice) and
    /// [`TensorView::as_slice`](super::TensorView::as_slice) are safe: they borrow the tensor.
    ///
    /// # Errors
    /// TypeError if the dtype is not that of `T`. ValueError if the device is not host-accessible,
    /// or if the elements are not contiguous, have no data, exceed the address space or are not
    /// aligned for `T`.
    ///
    /// # Safety
    /// No other code may write the elements while the result is in use.
    pub unsafe fn as_slice<T: Element>(self) -> Result<&'a [T]> {
        let (data, len) = self.elements::<T>()?;
        // SAFETY: `elements` checked pointer, length and alignment; `from_raw` guarantees that the
        // elements are initialised, and the caller that they are not written.
        Ok(unsafe { core::slice::from_raw_parts(data, len) })
    }

    /// Borrows the elements of a contiguous tensor in host-accessible memory for writing.
    ///
    /// # Errors
    /// Same errors as [`TensorRef::as_slice`].
    ///
    /// # Safety
    /// No one else may read or write the elements while the result is in use, and the producer must
    /// allow writes.
    #[allow(clippy::mut_from_ref, reason = "the caller guarantees that nobody else uses the data")]
    pub unsafe fn as_mut_slice<T: Element>(self) -> Result<&'a mut [T]> {
        let (data, len) = self.elements::<T>()?;
        // SAFETY: as for `data`, and the caller guarantees exclusive use.
        Ok(unsafe { core::slice::from_raw_parts_mut(data, len) })
    }

    /// Checks that the elements form a valid slice of `T`. Returns its address and length.
    pub(super) fn elements<T: Element>(self) -> Result<(*mut T, usize)> {
        self.check_host_elements::<T>()?;
        if let Some(len) = self.compact_len::<T>() {
            return Ok((self.first_element()?, len));
        }
        plain_ensure!(self.is_contiguous(), VALUE_ERROR, "the tensor is not contiguous"; "not contiguous");
        let Some(bytes) = self.size_bytes() else {
            plain_bail!(VALUE_ERROR, "the tensor has more elements than memory can hold"; "bad shape");
        };
        let len = bytes / size_of::<T>();
        if len == 0 {
            return Ok((core::ptr::NonNull::dangling().as_ptr(), 0));
        }
        Ok((self.first_element()?, len))
    }

    /// Fast path of checks: returns the number of elements of a compact tensor that has some.
    /// Returns `None` for other tensors, among them compact ones with unusual strides of an axis of
    /// one element, and in size-optimised builds.
    #[inline(always)]
    fn compact_numel(self) -> Option<i64> {
        if !cfg!(feature = "speed") {
            return None;
        }
        let (shape, strides) = (self.shape(), self.strides());
        let mut numel = 1i64;
        for (axis, extent) in shape.iter().enumerate().rev() {
            let is_compact = strides.is_none_or(|strides| strides.get(axis) == Some(&numel));
            if !is_compact || *extent <= 0 {
                return None;
            }
            numel = numel.checked_mul(*extent)?;
        }
        Some(numel)
    }

    /// Returns [`compact_numel`](Self::compact_numel) if that many elements of `T` fit into memory.
    #[inline(always)]
    fn compact_len<T>(self) -> Option<usize> {
        let len = usize::try_from(self.compact_numel()?).ok();
        len.filter(|len| *len <= isize::MAX as usize / size_of::<T>())
    }

    /// Fast path of [`elements`](Self::elements) for tensors of the CPU. Returns `None` for tensors
    /// that need the checks one by one.
    #[inline(always)]
    pub(super) fn elements_on_host<T: Element>(self) -> Option<(*mut T, usize)> {
        let (tensor, data) = (self.get(), self.first_byte().cast::<T>());
        let is_plain = tensor.dtype == T::DTYPE && tensor.device.device_type == kind::CPU;
        let len = if is_plain { self.compact_len::<T>()? } else { return None };
        (!data.is_null() && data.is_aligned()).then_some((data, len))
    }

    /// Checks that the elements are of type `T`, and in memory that the host can read.
    #[inline(always)]
    pub(crate) fn check_host_elements<T: Element>(self) -> Result<()> {
        let tensor = self.get();
        if tensor.dtype != T::DTYPE {
            return dtype_mismatch(T::DTYPE, tensor.dtype);
        }
        plain_ensure!(
            is_host_accessible(tensor.device),
            VALUE_ERROR,
            "the data of this tensor is not in main memory";
            "not in main memory"
        );
        Ok(())
    }

    /// Returns the address of the first element, which is not null and aligned for `T`.
    #[inline(always)]
    pub(crate) fn first_element<T: Element>(self) -> Result<*mut T> {
        let data = self.first_byte().cast::<T>();
        plain_ensure!(!data.is_null(), VALUE_ERROR, "the tensor has no data"; "no data");
        plain_ensure!(
            data.is_aligned(),
            VALUE_ERROR,
            "the data of the tensor is not aligned for its elements";
            "not aligned"
        );
        Ok(data)
    }
}

/// Borrows a list of `ndim` values. Returns `None` if `pointer` is null, and an empty list if
/// `ndim` is not positive.
///
/// # Safety
/// If `ndim` is positive, `pointer` must be null or point to `ndim` values that are valid for `'a`.
unsafe fn extents<'a>(pointer: *const i64, ndim: i32) -> Option<&'a [i64]> {
    match usize::try_from(ndim) {
        _ if pointer.is_null() => None,
        // SAFETY: the pointer is not null, and the caller guarantees the extents.
        Ok(len @ 1..) => Some(unsafe { core::slice::from_raw_parts(pointer, len) }),
        _ => Some(&[]),
    }
}

#[cold]
fn dtype_mismatch<T>(expected: DLDataType, actual: DLDataType) -> Result<T> {
    if SHORT {
        // The strings of dtypes would cost more flash than all else here.
        plain_bail!(TYPE_ERROR, "wrong dtype");
    }
    let mut texts = [[0u8; 32]; 2];
    for (text, dtype) in texts.iter_mut().zip([expected, actual]) {
        // A dtype without a string is shown as a question mark.
        if write_dtype(dtype, &mut SliceWriter::new(text)).is_err() {
            text[0] = b'?';
        }
    }
    let [expected, actual] =
        texts.each_ref().map(|text| text.split(|&byte| byte == 0).next().unwrap_or_default());
    plain_bail!(TYPE_ERROR, "expected a tensor of dtype `{}` but got `{}`", expected, actual)
}

/// Returns `true` if data pointers on this device are addresses, to which byte offsets can be
/// added.
///
/// # Upstream
/// `IsDirectAddressDevice` of `include/tvm/ffi/container/tensor.h`.
pub(crate) fn is_direct_address(device: DLDevice) -> bool {
    device.device_type <= kind::CUDA_HOST
        || matches!(device.device_type, kind::CUDA_MANAGED | kind::ROCM | kind::ROCM_HOST)
}

/// Returns `true` if the host can dereference data pointers of this device.
pub fn is_host_accessible(device: DLDevice) -> bool {
    matches!(device.device_type, kind::CPU | kind::CUDA_HOST | kind::ROCM_HOST | kind::CUDA_MANAGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOAT32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
    const CPU: DLDevice = DLDevice { device_type: kind::CPU, device_id: 0 };

    fn tensor(data: &mut [f32], shape: &mut [i64]) -> DLTensor {
        DLTensor {
            data: data.as_mut_ptr().cast(),
            device: CPU,
            ndim: shape.len() as i32,
            dtype: FLOAT32,
            shape: shape.as_mut_ptr(),
            strides: core::ptr::null_mut(),
            byte_offset: 0,
        }
    }

    fn reader(tensor: &DLTensor) -> TensorRef<'_> {
        // SAFETY: the tests describe arrays that live as long as the record.
        unsafe { TensorRef::from_raw(tensor) }
    }

    fn slice(tensor: &DLTensor) -> &[f32] {
        // SAFETY: no one writes the arrays meanwhile.
        unsafe { reader(tensor).as_slice() }.unwrap()
    }

    fn refusal(tensor: &DLTensor) -> &'static str {
        let error = reader(tensor).elements::<f32>().unwrap_err();
        match error.kind_bytes() {
            b"TypeError" => "TypeError",
            b"ValueError" => "ValueError",
            _ => "another kind",
        }
    }

    #[test]
    fn typed_data_starts_at_the_byte_offset() {
        let (mut data, mut shape) = ([1.0, 2.0, 3.0], [2]);
        let mut tensor = tensor(&mut data, &mut shape);
        tensor.byte_offset = 4;
        assert_eq!(slice(&tensor), [2.0, 3.0]);
        // SAFETY: no one else uses the array.
        unsafe { reader(&tensor).as_mut_slice::<f32>() }.unwrap()[0] = 9.0;
        assert_eq!(data[1], 9.0);
    }

    #[test]
    fn a_scalar_has_one_element_and_an_empty_tensor_none() {
        let mut data = [5.0];
        let scalar = tensor(&mut data, &mut []);
        assert_eq!(slice(&scalar), [5.0]);
        let mut shape = [3, 0];
        let mut empty = tensor(&mut [], &mut shape);
        empty.data = core::ptr::null_mut();
        assert!(slice(&empty).is_empty());
    }

    #[test]
    fn data_of_another_kind_is_refused() {
        let (mut data, mut shape, mut strides) = ([1.0, 2.0, 3.0, 4.0], [2, 2], [1, 2]);
        let good = tensor(&mut data, &mut shape);
        let error = reader(&good).elements::<i32>().unwrap_err();
        assert_eq!(error.message_bytes(), b"expected a tensor of dtype `int32` but got `float32`");
        assert_eq!(
            refusal(&DLTensor {
                device: DLDevice { device_type: kind::CUDA, device_id: 0 },
                ..good
            }),
            "ValueError"
        );
        assert_eq!(refusal(&DLTensor { strides: strides.as_mut_ptr(), ..good }), "ValueError");
        assert_eq!(refusal(&DLTensor { data: core::ptr::null_mut(), ..good }), "ValueError");
        assert_eq!(refusal(&DLTensor { byte_offset: 1, ..good }), "ValueError");
        let mut huge = [i64::MAX, 2];
        assert_eq!(refusal(&DLTensor { shape: huge.as_mut_ptr(), ..good }), "ValueError");
        assert_eq!(
            refusal(&DLTensor { dtype: DLDataType { code: 5, bits: 64, lanes: 1 }, ..good }),
            "TypeError"
        );
    }

    #[test]
    fn alignment_counts_address_or_offset() {
        let (mut data, mut shape) = ([0.0], [1]);
        let good = tensor(&mut data, &mut shape);
        assert!(reader(&good).is_aligned(0));
        assert!(reader(&good).is_aligned(4));
        assert!(!reader(&DLTensor { byte_offset: 2, ..good }).is_aligned(4));
        let opencl = DLDevice { device_type: 4, device_id: 0 };
        let buffer =
            DLTensor { device: opencl, data: core::ptr::without_provenance_mut(1), ..good };
        assert!(reader(&buffer).is_aligned(256));
    }

    #[test]
    fn a_negative_number_of_dimensions_reads_as_none() {
        let broken = DLTensor { ndim: -1, ..tensor(&mut [0.0], &mut [1]) };
        assert!(reader(&broken).shape().is_empty());
        assert_eq!(reader(&broken).ndim(), 0);
    }
}
