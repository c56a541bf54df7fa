//! NumPy arrays: tensors made from the array's own record, recycled after the call.
//!
//! The offsets of the record are NumPy's binary interface, and were probed. Whatever DLPack would
//! refuse, or would take from elsewhere, is left to upstream's conversion.

use super::numpy::{
    BASE, BYTE_ORDER, DATA, DESCRIPTOR, DIMENSIONS, FLAGS, RANK, STRIDES, TYPE_NUMBER,
};
use super::{Reference, plain};
use crate::python::{Locked, word};
use crate::state;
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};
use ferrite_core::abi::{
    DLDataType, DLDevice, DLTensor, TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject,
    TVMFFIObjectDeleterSlot, type_index,
};
use pyo3_ffi::*;

/// The elements are in the order of the indices, without gaps.
const CONTIGUOUS: c_int = 1;
/// Aligned and writeable.
const REQUIRED_FLAGS: c_int = 0x100 | 0x400;

/// The most dimensions.
const RANKS: usize = 8;
/// The most tensors that wait for the next call.
const RECYCLED: usize = 16;
/// The counts of an object that nobody else retains.
const UNIQUE: u64 = 1 << 32 | 1;

/// A tensor over the memory of an array, which it keeps alive.
#[repr(C)]
struct ArrayTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    owner: *mut PyObject,
    extents: [i64; RANKS],
    strides: [i64; RANKS],
}

/// Tensors that wait for the next call.
struct Recycled {
    tensors: [*mut ArrayTensor; RECYCLED],
    count: usize,
}

static RECYCLED_TENSORS: Locked<Recycled> = Locked::new();

/// Begins without recycled tensors.
///
/// # Safety
/// The lock must be held; called once, before `convert`.
pub unsafe fn start() {
    // SAFETY: as the caller guarantees.
    unsafe { RECYCLED_TENSORS.set(Recycled { tensors: [null_mut(); RECYCLED], count: 0 }) };
}

/// Converts an array. Returns `None` if upstream's conversion has to do it.
///
/// # Safety
/// The extension must be active, the lock held, and `object` must be an instance of `numpy.ndarray`
/// itself; `out` must be valid for writes.
pub unsafe fn convert(object: *mut PyObject, out: *mut TVMFFIAny) -> Option<Reference> {
    // SAFETY: the layout of arrays was probed.
    unsafe {
        let flags: c_int = word(object, FLAGS);
        if flags & REQUIRED_FLAGS != REQUIRED_FLAGS || is_foreign(word(object, BASE)) {
            return None;
        }
        let element = element_type(word(object, DESCRIPTOR))?;
        let rank = word::<c_int>(object, RANK) as usize;
        if rank > RANKS {
            return None;
        }
        let tensor = take()?;
        if !fill(tensor, object, rank, element) {
            give(tensor);
            return None;
        }
        out.write(plain(type_index::TENSOR, TVMFFIAnyPayload { v_ptr: tensor.cast() }));
    }
    Some(Reference::Array)
}

/// Returns whether the memory may belong to another device: NumPy keeps the capsule of such memory
/// as the last base.
///
/// # Safety
/// The state must be set, and `base` must be null or alive.
unsafe fn is_foreign(mut base: *mut PyObject) -> bool {
    // SAFETY: a base that is an array has the probed layout.
    unsafe {
        while !base.is_null() && Py_TYPE(base) == state::get().array {
            base = word(base, BASE);
        }
        !base.is_null() && Py_TYPE(base) == &raw mut PyCapsule_Type
    }
}

/// Returns the data type of elements in native byte order; `None` for others.
///
/// # Safety
/// `descriptor` must be a live NumPy element type.
unsafe fn element_type(descriptor: *mut PyObject) -> Option<DLDataType> {
    // SAFETY: the layout of element types was probed.
    let (order, number) =
        unsafe { (word::<u8>(descriptor, BYTE_ORDER), word::<c_int>(descriptor, TYPE_NUMBER)) };
    if order != b'=' && order != b'|' {
        return None;
    }
    // Signed, unsigned and floating-point numbers and booleans are 0, 1, 2 and 6 in DLPack.
    let (code, bits) = match number {
        0 => (6, 8),
        1 => (0, 8),
        2 => (1, 8),
        3 => (0, 16),
        4 => (1, 16),
        5 => (0, 32),
        6 => (1, 32),
        7 | 9 => (0, 64),
        8 | 10 => (1, 64),
        11 => (2, 32),
        12 => (2, 64),
        23 => (2, 16),
        _ => return None,
    };
    Some(DLDataType { code, bits, lanes: 1 })
}

/// Writes the record of a tensor. Returns `false` if a stride is not a multiple of an element, or
/// depends on NumPy's release.
///
/// # Safety
/// The lock must be held, `tensor` must come from `take`, and `object` must be an array of `rank`
/// dimensions, at most `RANKS`; `element` must be its element type.
unsafe fn fill(
    tensor: *mut ArrayTensor,
    object: *mut PyObject,
    rank: usize,
    element: DLDataType,
) -> bool {
    // SAFETY: an array has `rank` dimensions and strides.
    unsafe {
        // A power of two: a division would take most of the time.
        let size = isize::from(element.bits as i16 / 8);
        let shift = size.trailing_zeros();
        let (dimensions, strides): (*const isize, *const isize) =
            (word(object, DIMENSIONS), word(object, STRIDES));
        let mut has_free_stride = false;
        for axis in 0..rank {
            let (extent, stride) = (*dimensions.add(axis) as i64, *strides.add(axis));
            if stride & (size - 1) != 0 {
                return false;
            }
            has_free_stride |= extent < 2;
            (&raw mut (*tensor).extents).cast::<i64>().add(axis).write(extent);
            (&raw mut (*tensor).strides).cast::<i64>().add(axis).write((stride >> shift) as i64);
        }
        let (extents, strides) = (&(*tensor).extents, &(*tensor).strides);
        if has_free_stride
            && word::<c_int>(object, FLAGS) & CONTIGUOUS != 0
            && !are_strides_by_shape(rank, extents, strides)
        {
            return false;
        }
        (*tensor).header.combined_ref_count = UNIQUE;
        // A former callee may have written to any field.
        (&raw mut (*tensor).tensor).write(DLTensor {
            data: word(object, DATA),
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: rank as i32,
            dtype: element,
            shape: (&raw mut (*tensor).extents).cast(),
            strides: (&raw mut (*tensor).strides).cast(),
            byte_offset: 0,
        });
        Py_INCREF(object);
        (*tensor).owner = object;
    }
    true
}

/// Returns whether strides are those that follow from the shape.
///
/// An array with an extent of 0 or 1 is contiguous with any stride there. Some releases of NumPy
/// export such strides by DLPack, others export none: then the library computes them.
fn are_strides_by_shape(rank: usize, extents: &[i64; RANKS], strides: &[i64; RANKS]) -> bool {
    let mut expected = 1i64;
    extents.iter().zip(strides).take(rank).rev().all(|(extent, stride)| {
        let is_expected = *stride == expected;
        expected = expected.wrapping_mul(*extent);
        is_expected
    })
}

/// Makes an owned tensor of one dimension without elements, for probes.
///
/// # Safety
/// The lock must be held, and `start` must have been called.
pub unsafe fn sample() -> Option<*mut c_void> {
    // SAFETY: a new tensor can be written; None is alive.
    unsafe {
        let tensor = take()?;
        (*tensor).header.combined_ref_count = UNIQUE;
        (*tensor).extents = [0; RANKS];
        (*tensor).strides = [1; RANKS];
        (&raw mut (*tensor).tensor).write(DLTensor {
            data: null_mut(),
            device: DLDevice { device_type: 1, device_id: 0 },
            ndim: 1,
            dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
            shape: (&raw mut (*tensor).extents).cast(),
            strides: (&raw mut (*tensor).strides).cast(),
            byte_offset: 0,
        });
        Py_INCREF(Py_None());
        (*tensor).owner = Py_None();
        Some(tensor.cast())
    }
}

/// Returns the place of a recycled tensor.
///
/// # Safety
/// `recycled` must be valid, and `index` below `RECYCLED`.
unsafe fn recycled_place(recycled: *mut Recycled, index: usize) -> *mut *mut ArrayTensor {
    // SAFETY: as the caller guarantees.
    unsafe { (&raw mut (*recycled).tensors).cast::<*mut ArrayTensor>().add(index) }
}

/// Returns a recycled tensor, or a new one; `None` without memory.
///
/// # Safety
/// The lock must be held, and `start` must have been called.
unsafe fn take() -> Option<*mut ArrayTensor> {
    // SAFETY: the lock guards the list; a new tensor has the size of one.
    unsafe {
        let recycled = RECYCLED_TENSORS.get();
        if (*recycled).count > 0 {
            (*recycled).count -= 1;
            return Some(*recycled_place(recycled, (*recycled).count));
        }
        let tensor: *mut ArrayTensor = libc::malloc(size_of::<ArrayTensor>()).cast();
        if tensor.is_null() {
            return None;
        }
        (&raw mut (*tensor).header).write(TVMFFIObject {
            combined_ref_count: UNIQUE,
            type_index: type_index::TENSOR,
            padding: 0,
            deleter: TVMFFIObjectDeleterSlot { deleter: Some(delete) },
        });
        Some(tensor)
    }
}

/// Keeps a tensor without content for the next call, or frees it.
///
/// # Safety
/// The lock must be held, and `tensor` must come from `take`; the caller must not use it
/// afterwards, and nobody else may.
unsafe fn give(tensor: *mut ArrayTensor) {
    // SAFETY: the lock guards the list; the memory came from malloc.
    unsafe {
        let recycled = RECYCLED_TENSORS.get();
        if (*recycled).count < RECYCLED {
            *recycled_place(recycled, (*recycled).count) = tensor;
            (*recycled).count += 1;
        } else {
            libc::free(tensor.cast());
        }
    }
}

/// Releases the tensor of an argument: it is recycled unless the callee has retained it.
///
/// # Safety
/// The extension must be active, the lock held, and `handle` must be an owned tensor of this
/// module; the caller must not use it afterwards.
#[inline(always)]
pub unsafe fn release(handle: *mut c_void) {
    let tensor: *mut ArrayTensor = handle.cast();
    // SAFETY: the tensor is alive, and its counts are atomic.
    unsafe {
        let counts = AtomicU64::from_ptr(&raw mut (*tensor).header.combined_ref_count);
        if counts.load(Ordering::Acquire) == UNIQUE {
            let owner = (*tensor).owner;
            give(tensor);
            Py_DECREF(owner);
        } else {
            (state::get().library.dec_ref)(handle);
        }
    }
}

/// Deleter of a tensor that a callee has retained; any thread may call it.
///
/// # Safety
/// `object` must be an `ArrayTensor` whose last strong reference (bit 0 of `flags`), last weak
/// reference (bit 1) or both were released; each bit must be passed once.
unsafe extern "C" fn delete(object: *mut c_void, flags: c_int) {
    let tensor: *mut ArrayTensor = object.cast();
    // SAFETY: the tensor owns the array; after the interpreter's end, arrays are never released.
    unsafe {
        if flags & 1 != 0 && Py_IsInitialized() != 0 {
            let thread = PyGILState_Ensure();
            Py_DECREF((*tensor).owner);
            PyGILState_Release(thread);
        }
        if flags & 2 != 0 {
            libc::free(tensor.cast());
        }
    }
}
