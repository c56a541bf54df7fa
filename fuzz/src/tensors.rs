//! Managed tensors of programs, which may describe memory that they do not have.

use core::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use ferrite_core::abi::*;

use crate::program::Meta;

/// Bytes of memory that each tensor has.
const MEMORY: usize = 128;

/// A tensor and what it points to.
struct Owned {
    plain: DLManagedTensor,
    versioned: DLManagedTensorVersioned,
    shape: Vec<i64>,
    strides: Vec<i64>,
    memory: Memory,
}

/// Memory with an address that is the same up to each alignment that programs ask for.
#[repr(C, align(256))]
struct Memory([u64; MEMORY / 8]);

static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of managed tensors that live.
pub fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

impl Meta {
    fn sizes(&self) -> Vec<i64> {
        self.shape.iter().map(|size| i64::from(*size) << (self.scale % 60)).collect()
    }

    /// Returns the number of dimensions, negative if the description says so.
    pub fn ndim(&self) -> i32 {
        let ndim = self.shape.len() as i32;
        if self.negative { -1 - ndim } else { ndim }
    }

    /// Returns the number of elements; None if a size is negative or the number exceeds 63 bits.
    pub fn elements(&self) -> Option<i64> {
        let product =
            |product: i64, size: &i64| if *size < 0 { None } else { product.checked_mul(*size) };
        self.sizes().iter().try_fold(1, product)
    }

    /// Returns the number of bytes of all elements.
    pub fn bytes(&self) -> Option<usize> {
        let bytes_each = (usize::from(self.bits) * usize::from(self.lanes.max(1))).div_ceil(8);
        (self.elements()? as usize).checked_mul(bytes_each)
    }

    /// Returns whether the elements lie in the memory of a tensor.
    pub fn fits(&self) -> bool {
        // Scalable vectors have a negative number of lanes.
        let has_known_size = self.lanes < 0x8000;
        !self.negative
            && !self.has_strides
            && has_known_size
            && (!self.null_data || self.elements() == Some(0))
            && self
                .bytes()
                .and_then(|bytes| bytes.checked_add(self.byte_offset.into()))
                .is_some_and(|end| end <= MEMORY)
    }

    /// Calls `f` with a tensor that lives as long as the call and has the given data.
    pub fn with<R>(&self, data: *mut c_void, f: impl FnOnce(&mut DLTensor) -> R) -> R {
        let (mut shape, mut strides) = (self.sizes(), self.stride_sizes());
        f(&mut self.tensor(data, &mut shape, &mut strides))
    }

    /// Returns sizes and strides, of the same number.
    pub fn sizes_and_strides(&self) -> (Vec<i64>, Vec<i64>) {
        (self.sizes(), self.stride_sizes())
    }

    fn stride_sizes(&self) -> Vec<i64> {
        let mut strides: Vec<i64> = self.strides.iter().map(|stride| i64::from(*stride)).collect();
        strides.resize(self.shape.len(), 1);
        strides
    }

    fn tensor(&self, data: *mut c_void, shape: &mut [i64], strides: &mut [i64]) -> DLTensor {
        DLTensor {
            data: if self.null_data { std::ptr::null_mut() } else { data },
            device: DLDevice {
                // Kernels and structural functions read the memory of the CPU only.
                device_type: self.device_type.into(),
                device_id: self.device_id.into(),
            },
            ndim: self.ndim(),
            dtype: DLDataType { code: self.code, bits: self.bits, lanes: self.lanes },
            shape: shape.as_mut_ptr(),
            strides: if self.has_strides { strides.as_mut_ptr() } else { std::ptr::null_mut() },
            byte_offset: self.byte_offset.into(),
        }
    }

    fn own(&self, major: u32, flags: u64) -> *mut Owned {
        LIVE.fetch_add(1, Ordering::Relaxed);
        let empty = self.tensor(std::ptr::null_mut(), &mut [], &mut []);
        let owned = Box::into_raw(Box::new(Owned {
            plain: DLManagedTensor {
                dl_tensor: empty,
                manager_ctx: std::ptr::null_mut(),
                deleter: Some(delete),
            },
            versioned: DLManagedTensorVersioned {
                version: DLPackVersion { major, minor: 3 },
                manager_ctx: std::ptr::null_mut(),
                deleter: Some(delete_versioned),
                flags,
                dl_tensor: empty,
            },
            shape: self.sizes(),
            strides: self.stride_sizes(),
            memory: Memory(std::array::from_fn(|at| at as u64)),
        }));
        // SAFETY: the record was just made, and is not moved.
        unsafe {
            let record = &mut *owned;
            let data = record.memory.0.as_mut_ptr().cast();
            let tensor = self.tensor(data, &mut record.shape, &mut record.strides);
            record.plain.dl_tensor = tensor;
            record.plain.manager_ctx = owned.cast();
            record.versioned.dl_tensor = tensor;
            record.versioned.manager_ctx = owned.cast();
        }
        owned
    }

    /// Makes a managed tensor.
    pub fn managed(&self) -> *mut DLManagedTensor {
        // SAFETY: the record was just made.
        unsafe { &raw mut (*self.own(1, 0)).plain }
    }

    /// Makes a versioned managed tensor.
    pub fn managed_versioned(&self, major: u32, flags: u64) -> *mut DLManagedTensorVersioned {
        // SAFETY: the record was just made.
        unsafe { &raw mut (*self.own(major, flags)).versioned }
    }
}

fn free(context: *mut c_void) {
    LIVE.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: contexts are boxes.
    drop(unsafe { Box::from_raw(context.cast::<Owned>()) });
}

unsafe extern "C" fn delete(tensor: *mut DLManagedTensor) {
    // SAFETY: the tensor lives.
    free(unsafe { (*tensor).manager_ctx });
}

unsafe extern "C" fn delete_versioned(tensor: *mut DLManagedTensorVersioned) {
    // SAFETY: the tensor lives.
    free(unsafe { (*tensor).manager_ctx });
}

type SetError = Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char)>;

/// Allocates a tensor for the environment.
///
/// # Safety
/// Prototype and result must be valid, and the function for errors must take the context.
pub unsafe extern "C" fn allocate(
    prototype: *mut DLTensor,
    out: *mut *mut DLManagedTensorVersioned,
    _: *mut c_void,
    _: SetError,
) -> c_int {
    // SAFETY: the caller passes a prototype with as many sizes as it says.
    let (prototype, shape) = unsafe {
        let prototype = &*prototype;
        let len = usize::try_from(prototype.ndim).unwrap_or(0);
        let shape = if len == 0 { &[] } else { std::slice::from_raw_parts(prototype.shape, len) };
        (prototype, shape)
    };
    let meta = Meta {
        shape: shape.iter().map(|size| *size as i8).collect(),
        strides: Vec::new(),
        has_strides: false,
        code: prototype.dtype.code,
        bits: prototype.dtype.bits,
        lanes: prototype.dtype.lanes,
        byte_offset: 0,
        device_type: prototype.device.device_type as i8,
        device_id: prototype.device.device_id as i8,
        null_data: false,
        negative: false,
        scale: 0,
    };
    // SAFETY: the result is writable.
    unsafe { *out = meta.managed_versioned(1, 0) };
    0
}

/// Fails to allocate a tensor.
///
/// # Safety
/// Prototype and result must be valid, and the function for errors must take the context.
pub unsafe extern "C" fn refuse(
    _: *mut DLTensor,
    _: *mut *mut DLManagedTensorVersioned,
    context: *mut c_void,
    set_error: SetError,
) -> c_int {
    if let Some(set_error) = set_error {
        // SAFETY: the function takes its context and two C strings.
        unsafe { set_error(context, c"MemoryError".as_ptr(), c"as the program says".as_ptr()) };
    }
    -1
}
