//! Tensors over memory that the test owns.

use super::{Library, Value};
use ferrite_core::abi::*;
use std::ptr::{null_mut, slice_from_raw_parts};

/// A tensor's memory, preceded by the DLPack record that exports it.
#[repr(C)]
struct Lent {
    managed: DLManagedTensor,
    _shape: Vec<i64>,
    _data: Vec<u64>,
}

/// Creates a contiguous CPU tensor of unsigned integers, whose bytes count up from `first`.
pub fn counting(library: &'static Library, bits: u8, shape: &[i64], first: u8) -> Value {
    let bytes = shape.iter().product::<i64>() as usize * usize::from(bits) / 8;
    let words = (0..bytes.div_ceil(8)).map(|at| u64::from(first) + (at as u64) * 0x0101_0101);
    let (mut shape, mut data): (Vec<i64>, Vec<u64>) = (shape.to_vec(), words.collect());
    let dl_tensor = DLTensor {
        data: data.as_mut_ptr().cast(),
        device: DLDevice { device_type: kDLCPU, device_id: 0 },
        ndim: shape.len() as i32,
        dtype: DLDataType { code: kDLUInt as u8, bits, lanes: 1 },
        shape: shape.as_mut_ptr(),
        strides: null_mut(),
        byte_offset: 0,
    };
    let managed = DLManagedTensor { dl_tensor, manager_ctx: null_mut(), deleter: Some(give_back) };
    let lent = Box::into_raw(Box::new(Lent { managed, _shape: shape, _data: data }));
    // SAFETY: the record lives until its deleter is called.
    let made = library.object(|out| unsafe {
        (library.symbols.tensor_from_dlpack)(&raw mut (*lent).managed, 0, 0, out)
    });
    made.expect("a plain tensor is taken")
}

unsafe extern "C" fn give_back(managed: *mut DLManagedTensor) {
    // SAFETY: the record is the first field of the box that `counting` leaked.
    drop(unsafe { Box::from_raw(managed.cast::<Lent>()) });
}

/// Describes everything about a tensor except its data.
pub fn describe(tensor: &DLTensor) -> String {
    let DLTensor { device, ndim, dtype, byte_offset, .. } = *tensor;
    let dimensions = |data: *mut i64| {
        // SAFETY: where there is an array, it has `ndim` entries.
        (!data.is_null()).then(|| unsafe { &*slice_from_raw_parts(data, ndim as usize) })
    };
    let (shape, strides) = (dimensions(tensor.shape), dimensions(tensor.strides));
    format!("{dtype:?} {device:?} {ndim} {shape:?} {strides:?} +{byte_offset}")
}

/// Returns the bytes of a contiguous CPU tensor.
///
/// # Safety
/// The tensor must be contiguous and on the CPU.
pub unsafe fn bytes(tensor: &DLTensor) -> Vec<u8> {
    // SAFETY: the shape has `ndim` entries.
    let shape = unsafe { &*slice_from_raw_parts(tensor.shape, tensor.ndim as usize) };
    let bytes = shape.iter().product::<i64>() as usize * usize::from(tensor.dtype.bits) / 8;
    if bytes == 0 {
        return Vec::new();
    }
    // SAFETY: the elements are contiguous from here.
    unsafe {
        &*slice_from_raw_parts(tensor.data.cast::<u8>().add(tensor.byte_offset as usize), bytes)
    }
    .to_vec()
}
