//! NDArray functions of the legacy API. An NDArray is a tensor object of tvm-ffi; its handle is the
//! address of the `DLTensor` inside the object.

use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use ferrite_alloc_ext::device;
use ferrite_core::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLTensor, TVMFFIObject, type_index,
};
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_bail;
use ferrite_core::tensor::Tensor;
use ferrite_core::value::device::kind;

use super::copy::Copy;
use super::{crossing, dtype};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::{TVMArrayHandle, TVMStreamHandle};

/// Value of `require_alignment` that accepts DLPack tensors of any alignment.
const ANY_ALIGNMENT: i32 = 0;

/// Returns the array handle of a tensor object: the address of its `DLTensor`.
pub fn handle_of(tensor: *mut TVMFFIObject) -> *mut DLTensor {
    tensor.wrapping_add(1).cast()
}

/// Converts a tensor into an array handle that owns a reference.
pub(super) fn into_handle(tensor: Tensor) -> *mut DLTensor {
    handle_of(tensor.into_object().into_raw().as_ptr())
}

/// Borrows the tensor object behind an array handle. Returns ValueError for null.
///
/// # Safety
/// The handle must be null or a valid array handle.
pub(super) unsafe fn borrow(
    array: *mut DLTensor,
    number: u8,
    name: &'static str,
) -> Result<ManuallyDrop<Tensor>> {
    boundary::non_null(array, arg(number, name))?;
    // SAFETY: the caller guarantees the array; the reference made here is never dropped.
    unsafe {
        let object = ObjectRef::from_raw(NonNull::new_unchecked(crossing::object_of(array)));
        Ok(ManuallyDrop::new(Tensor::from_object_unchecked(object)))
    }
}

/// Allocates an array. Its content is zero in main memory, and undefined on other devices. An
/// element of fewer than 8 bits takes a byte.
///
/// Returns 0 and stores the array, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised: ValueError for a negative number of dimensions, a negative extent or an
/// unsupported data type; an error for an unsupported device; or MemoryError. Supported data types
/// have at least one lane, and a bit width that is a multiple of 8 and a power of two. Integers of
/// 1 and 4 bits and floats of 4 bits are also supported.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayAlloc(
    shape: *const i64,
    ndim: c_int,
    dtype_code: c_int,
    dtype_bits: c_int,
    dtype_lanes: c_int,
    device_type: c_int,
    device_id: c_int,
    out: *mut TVMArrayHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (shape, out) = unsafe {
            (boundary::slice(shape, ndim, arg(1, "shape"))?, boundary::out(out, arg(8, "out"))?)
        };
        let dtype = data_type(dtype_code, dtype_bits, dtype_lanes)?;
        out.write(into_handle(empty(shape, dtype, DLDevice { device_type, device_id })?));
        Ok(())
    })
}

/// Creates an array of a former data type.
///
/// # Errors
/// Errors of [`device::empty`].
pub(super) fn empty(shape: &[i64], former: DLDataType, device: DLDevice) -> Result<Tensor> {
    crossing::array_over(device::empty(shape, dtype::storage_of(former), device)?, former)
}

/// Creates a former data type from its parts.
///
/// # Errors
/// ValueError if arrays do not support the data type.
pub(super) fn data_type(code: c_int, bits: c_int, lanes: c_int) -> Result<DLDataType> {
    const FLOAT4: c_int = 8;
    let is_whole = bits > 0 && bits & (bits - 1) == 0 && bits % 8 == 0;
    let is_narrow = matches!((code, bits), (0 | 1, 1 | 4) | (FLOAT4, 4));
    match (u8::try_from(code), u8::try_from(bits), u16::try_from(lanes)) {
        (Ok(dtype_code), Ok(dtype_bits), Ok(dtype_lanes))
            if dtype_lanes > 0 && (is_whole || is_narrow) =>
        {
            Ok(DLDataType { code: dtype_code, bits: dtype_bits, lanes: dtype_lanes })
        }
        _ => plain_bail!(
            VALUE_ERROR,
            "There are no arrays of a data type with code {}, {} bits and {} lanes",
            code,
            bits,
            lanes
        ),
    }
}

/// Releases a reference to an array. Returns 0, or -1 with ValueError raised for null.
///
/// # Safety
/// The caller transfers the reference.
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayFree(handle: TVMArrayHandle) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of this function.
        drop(ManuallyDrop::into_inner(unsafe { borrow(handle, 1, "handle")? }));
        Ok(())
    })
}

/// Copies `nbytes` bytes of main memory to an array, and waits until the copy is complete.
///
/// Returns 0, or -1 with an error raised: ValueError if the array has a different size or is not
/// contiguous, or an error of the device.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayCopyFromBytes(
    handle: TVMArrayHandle,
    data: *mut c_void,
    nbytes: usize,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        unsafe { Copy { array: handle, data, bytes: nbytes }.fill() }
    })
}

/// Copies an array to `nbytes` bytes of main memory, and waits until the copy is complete.
///
/// Returns 0, or -1 with an error raised: ValueError if the array has a different size or is not
/// contiguous, or an error of the device.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayCopyToBytes(
    handle: TVMArrayHandle,
    data: *mut c_void,
    nbytes: usize,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        unsafe { Copy { array: handle, data, bytes: nbytes }.read() }
    })
}

/// Copies one array to another of the same size in bytes, whatever their shapes are. The copy is
/// queued on `stream`; null is the default stream. Returns 0, or -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayCopyFromTo(
    from: TVMArrayHandle,
    to: TVMArrayHandle,
    stream: TVMStreamHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        unsafe {
            let from = boundary::reference(from, arg(1, "from"))?;
            let to = boundary::reference(to, arg(2, "to"))?;
            let [from, to] =
                [from, to].map(|array| DLTensor { dtype: crossing::storage_type(array), ..*array });
            device::copy_tensor(&from, &to, stream)
        }
    })
}

/// Creates an array from a DLPack tensor, and takes ownership of the tensor. Its deleter runs when
/// the array is destroyed.
///
/// Returns 0 and stores the array, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised, and the caller still owns `from`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayFromDLPack(
    from: *mut DLManagedTensor,
    out: *mut TVMArrayHandle,
) -> c_int {
    boundary::status(|| {
        let from = boundary::non_null(from, arg(1, "from"))?;
        // SAFETY: contract of the crate; the caller transfers a valid tensor.
        unsafe {
            let out = boundary::out(out, arg(2, "out"))?;
            // Checked first: the caller keeps a tensor that has no former data type.
            dtype::of_former_elements((*from.as_ptr()).dl_tensor.dtype)?;
            let tensor = Tensor::from_dlpack(from.as_ptr(), ANY_ALIGNMENT, false)?;
            match crossing::to_former(&tensor) {
                Ok(array) => out.write(into_handle(array.unwrap_or(tensor))),
                Err(error) => {
                    // Dropped without the deleter, since the caller still owns `from`.
                    let deleter = (*from.as_ptr()).deleter.take();
                    drop(tensor);
                    (*from.as_ptr()).deleter = deleter;
                    return Err(error);
                }
            }
        }
        Ok(())
    })
}

/// Exports an array as a DLPack tensor, which keeps a reference to the array until its deleter is
/// called. The tensor has the current data type.
///
/// Returns 0 and stores the DLPack tensor, owned by the caller, in `out`. On failure, returns -1
/// with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayToDLPack(
    from: TVMArrayHandle,
    out: *mut *mut DLManagedTensor,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        unsafe {
            let tensor = borrow(from, 1, "from")?;
            let out = boundary::out(out, arg(2, "out"))?;
            let current = crossing::to_current(&tensor)?;
            out.write(current.as_ref().unwrap_or(&tensor).to_dlpack()?.as_ptr());
        }
        Ok(())
    })
}

/// Calls the deleter of a DLPack tensor. Null is ignored.
///
/// # Safety
/// The caller transfers ownership of the tensor.
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMDLManagedTensorCallDeleter(dltensor: *mut DLManagedTensor) {
    // SAFETY: contract of the crate.
    if let Some(tensor) = unsafe { dltensor.as_ref() }
        && let Some(deleter) = tensor.deleter
    {
        // SAFETY: as above; called once.
        unsafe { deleter(dltensor) }
    }
}

/// Stores the type index of an array in `out_tindex`. Returns 0, or -1 with ValueError raised for a
/// null pointer.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMArrayGetTypeIndex(
    handle: TVMArrayHandle,
    out_tindex: *mut u32,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (array, out) = unsafe {
            (borrow(handle, 1, "handle")?, boundary::out(out_tindex, arg(2, "out_tindex"))?)
        };
        out.write(array.as_object().type_index().cast_unsigned());
        Ok(())
    })
}

const _: () = {
    assert!(type_index::TENSOR == 70 && kind::CPU == 1);
    assert!(size_of::<TVMFFIObject>() == 24);
};
