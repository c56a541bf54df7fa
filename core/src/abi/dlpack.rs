//! DLPack 1.3 records: devices, data types, tensors, managed tensors and the exchange table.

use core::ffi::{c_char, c_int, c_void};

/// Major version of DLPack described here. A change of it means a change of the record layout.
pub const DLPACK_MAJOR_VERSION: u32 = 1;

/// Minor version of DLPack described here. A change of it only adds enumeration values.
pub const DLPACK_MINOR_VERSION: u32 = 3;

/// Bit of `DLManagedTensorVersioned.flags`: the consumer must not write to the data.
pub const DLPACK_FLAG_BITMASK_READ_ONLY: u64 = 1 << 0;

/// Bit of `DLManagedTensorVersioned.flags`: the producer made a copy, which the consumer alone owns
/// until it calls the deleter.
pub const DLPACK_FLAG_BITMASK_IS_COPIED: u64 = 1 << 1;

/// Bit of `DLManagedTensorVersioned.flags`: elements narrower than a byte each fill a byte instead
/// of being packed.
pub const DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED: u64 = 1 << 2;

/// The DLPack version of a record.
///
/// A consumer must not read a record of another major version, and may only call its deleter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// The major version: the record layout.
    pub major: u32,
    /// The minor version: the known enumeration values.
    pub minor: u32,
}

c_enum! {
    /// Types of device memory in which tensor data is stored.
    pub enum DLDeviceType: i32 {
        /// Main memory.
        kDLCPU = 1,
        /// Memory of a CUDA GPU.
        kDLCUDA = 2,
        /// Main memory pinned by `cudaMallocHost`.
        kDLCUDAHost = 3,
        /// An OpenCL buffer.
        kDLOpenCL = 4,
        /// A Vulkan buffer.
        kDLVulkan = 7,
        /// A Metal buffer of an Apple GPU.
        kDLMetal = 8,
        /// The buffer of a Verilog simulator.
        kDLVPI = 9,
        /// Memory of a ROCm GPU.
        kDLROCM = 10,
        /// Main memory pinned by `hipMallocHost`.
        kDLROCMHost = 11,
        /// Reserved for experiments; the implementation defines its meaning.
        kDLExtDev = 12,
        /// Managed memory of `cudaMallocManaged`, visible to the host and to the GPU.
        kDLCUDAManaged = 13,
        /// Unified shared memory of a oneAPI device, identified by the oneAPI runtime.
        kDLOneAPI = 14,
        /// A WebGPU buffer.
        kDLWebGPU = 15,
        /// A Qualcomm Hexagon DSP.
        kDLHexagon = 16,
        /// A Microsoft MAIA device.
        kDLMAIA = 17,
        /// An AWS Trainium device.
        kDLTrn = 18,
    }
}

/// A device: its type, and its index among the devices of that type.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DLDevice {
    /// The type of the device, one of `DLDeviceType`.
    pub device_type: DLDeviceType,
    /// The index of the device; 0 for main, pinned and managed memory.
    pub device_id: i32,
}

c_enum! {
    /// Kinds of element, as stored in `DLDataType.code`.
    pub enum DLDataTypeCode: u32 {
        /// Signed integer.
        kDLInt = 0,
        /// Unsigned integer.
        kDLUInt = 1,
        /// IEEE floating point.
        kDLFloat = 2,
        /// Opaque handle; both sides must agree on its meaning.
        kDLOpaqueHandle = 3,
        /// Brain floating point.
        kDLBfloat = 4,
        /// Complex number: real part, then imaginary part.
        kDLComplex = 5,
        /// Boolean, one byte each when `bits` is 8.
        kDLBool = 6,
        /// 8-bit float with 3 exponent and 4 mantissa bits.
        kDLFloat8_e3m4 = 7,
        /// 8-bit float with 4 exponent and 3 mantissa bits.
        kDLFloat8_e4m3 = 8,
        /// 8-bit float e4m3 with exponent bias 11, finite, one NaN, unsigned zero.
        kDLFloat8_e4m3b11fnuz = 9,
        /// 8-bit float e4m3, finite.
        kDLFloat8_e4m3fn = 10,
        /// 8-bit float e4m3, finite, one NaN, unsigned zero.
        kDLFloat8_e4m3fnuz = 11,
        /// 8-bit float with 5 exponent and 2 mantissa bits.
        kDLFloat8_e5m2 = 12,
        /// 8-bit float e5m2, finite, one NaN, unsigned zero.
        kDLFloat8_e5m2fnuz = 13,
        /// 8-bit power of two, the scale of microscaling formats.
        kDLFloat8_e8m0fnu = 14,
        /// 6-bit float with 2 exponent and 3 mantissa bits; `bits` must be 6.
        kDLFloat6_e2m3fn = 15,
        /// 6-bit float with 3 exponent and 2 mantissa bits; `bits` must be 6.
        kDLFloat6_e3m2fn = 16,
        /// 4-bit float with 2 exponent bits and 1 mantissa bit; `bits` must be 4.
        kDLFloat4_e2m1fn = 17,
    }
}

/// The type of one tensor element, in native byte order.
///
/// Examples as (code, bits, lanes): `float` is (2, 32, 1), a vector of four floats (2, 32, 4),
/// `int8_t` (0, 8, 1), a complex of two floats (5, 64, 1). Elements narrower than a byte are packed
/// from the lowest bit up.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DLDataType {
    /// The kind of element, one of `DLDataTypeCode` in a byte.
    pub code: u8,
    /// The bits of one lane.
    pub bits: u8,
    /// The lanes of one element; 1 unless it is a vector.
    pub lanes: u16,
}

/// A borrowed tensor.
///
/// The elements take `(bits * lanes + 7) / 8` bytes each, times the product of `shape`; an empty
/// tensor has null data.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The allocation: a host address, a device address or an opaque handle, depending on the
    /// device.
    ///
    /// Nominally aligned to 256 bytes, though producers often do not comply.
    pub data: *mut c_void,
    /// The device of the data.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The element type.
    pub dtype: DLDataType,
    /// `ndim` sizes in elements; may be null when `ndim` is 0.
    pub shape: *mut i64,
    /// `ndim` strides in elements; may be null when `ndim` is 0.
    ///
    /// Before DLPack 1.2, null also meant compact row-major order.
    pub strides: *mut i64,
    /// Offset in bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// An owned tensor with a destructor, as defined before DLPack 1.0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The producer's context; may be null.
    pub manager_ctx: *mut c_void,
    /// Releases the tensor and this record; called once, by the consumer. Null when nothing needs
    /// releasing.
    pub deleter: Option<unsafe extern "C" fn(self_: *mut DLManagedTensor)>,
}

/// An owned tensor with a version, flags and a destructor.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLManagedTensorVersioned {
    /// The DLPack version of this record; check it first.
    pub version: DLPackVersion,
    /// The producer's context; may be null.
    pub manager_ctx: *mut c_void,
    /// Releases the tensor and this record; called once, by the consumer. Null when nothing needs
    /// releasing.
    pub deleter: Option<unsafe extern "C" fn(self_: *mut DLManagedTensorVersioned)>,
    /// Bits `DLPACK_FLAG_BITMASK_*`; 0 by default.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// Allocates a tensor with the dtype, ndim, shape and device of a prototype. No other field of the
/// prototype is read.
///
/// Returns 0 and stores the new tensor, which the caller owns; or reports through `SetError` and
/// returns -1. Must not throw.
pub type DLPackManagedTensorAllocator = Option<
    unsafe extern "C" fn(
        prototype: *mut DLTensor,
        out: *mut *mut DLManagedTensorVersioned,
        error_ctx: *mut c_void,
        SetError: Option<
            unsafe extern "C" fn(
                error_ctx: *mut c_void,
                kind: *const c_char,
                message: *const c_char,
            ),
        >,
    ) -> c_int,
>;

/// Exports a Python tensor as a managed tensor that the caller owns, without waiting for any
/// stream.
///
/// Returns 0, or -1 with a Python exception set.
pub type DLPackManagedTensorFromPyObjectNoSync = Option<
    unsafe extern "C" fn(py_object: *mut c_void, out: *mut *mut DLManagedTensorVersioned) -> c_int,
>;

/// Fills the caller's record with a description of a Python tensor, without waiting for any stream.
///
/// The producer keeps ownership of data, shape and strides, which are valid until control returns
/// to it. Returns 0, or -1 with a Python exception set.
pub type DLPackDLTensorFromPyObjectNoSync =
    Option<unsafe extern "C" fn(py_object: *mut c_void, out: *mut DLTensor) -> c_int>;

/// Returns the stream on which the producer currently works; null for `kDLCPU`.
///
/// Returns 0, or -1 with a Python exception set.
pub type DLPackCurrentWorkStream = Option<
    unsafe extern "C" fn(
        device_type: DLDeviceType,
        device_id: i32,
        out_current_stream: *mut *mut c_void,
    ) -> c_int,
>;

/// Converts a managed tensor to a Python tensor, without waiting for any stream. Takes ownership of
/// the managed tensor.
///
/// Returns 0, or -1 with a Python exception set.
pub type DLPackManagedTensorToPyObjectNoSync = Option<
    unsafe extern "C" fn(
        tensor: *mut DLManagedTensorVersioned,
        out_py_object: *mut *mut c_void,
    ) -> c_int,
>;

/// The header of the exchange table, whose layout never changes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLPackExchangeAPIHeader {
    /// The DLPack version of the table; compare the major version before reading on.
    pub version: DLPackVersion,
    /// A table for an older major version, or null.
    pub prev_api: *mut DLPackExchangeAPIHeader,
}

/// The functions a framework offers for exchanging tensors without going through Python.
///
/// Found as a capsule named `dlpack_exchange_api` in the attribute `__dlpack_c_exchange_api__` of
/// the tensor's Python type; it lives as long as the process.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLPackExchangeAPI {
    /// The header: version and older tables.
    pub header: DLPackExchangeAPIHeader,
    /// Allocates a tensor; never null.
    pub managed_tensor_allocator: DLPackManagedTensorAllocator,
    /// Exports a Python tensor; never null.
    pub managed_tensor_from_py_object_no_sync: DLPackManagedTensorFromPyObjectNoSync,
    /// Converts to a Python tensor; never null.
    pub managed_tensor_to_py_object_no_sync: DLPackManagedTensorToPyObjectNoSync,
    /// Describes a Python tensor in the caller's record; may be null.
    pub dltensor_from_py_object_no_sync: DLPackDLTensorFromPyObjectNoSync,
    /// Returns the current stream; never null.
    pub current_work_stream: DLPackCurrentWorkStream,
}

assert_layout!(DLPackVersion, size 8, align 4, { major: 0, minor: 4 });
assert_layout!(DLDevice, size 8, align 4, { device_type: 0, device_id: 4 });
assert_layout!(DLDataType, size 4, align 2, { code: 0, bits: 1, lanes: 2 });

#[cfg(target_pointer_width = "64")]
mod layout_64 {
    use super::*;

    assert_layout!(DLTensor, size 48, align 8, {
        data: 0, device: 8, ndim: 16, dtype: 20, shape: 24, strides: 32, byte_offset: 40,
    });
    assert_layout!(DLManagedTensor, size 64, align 8, { dl_tensor: 0, manager_ctx: 48, deleter: 56 });
    assert_layout!(DLManagedTensorVersioned, size 80, align 8, {
        version: 0, manager_ctx: 8, deleter: 16, flags: 24, dl_tensor: 32,
    });
    assert_layout!(DLPackExchangeAPIHeader, size 16, align 8, { version: 0, prev_api: 8 });
    assert_layout!(DLPackExchangeAPI, size 56, align 8, {
        header: 0,
        managed_tensor_allocator: 16,
        managed_tensor_from_py_object_no_sync: 24,
        managed_tensor_to_py_object_no_sync: 32,
        dltensor_from_py_object_no_sync: 40,
        current_work_stream: 48,
    });
}

#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
mod layout_32 {
    use super::*;

    assert_layout!(DLTensor, size 40, align 8, {
        data: 0, device: 4, ndim: 12, dtype: 16, shape: 20, strides: 24, byte_offset: 32,
    });
    assert_layout!(DLManagedTensor, size 48, align 8, { dl_tensor: 0, manager_ctx: 40, deleter: 44 });
    assert_layout!(DLManagedTensorVersioned, size 64, align 8, {
        version: 0, manager_ctx: 8, deleter: 12, flags: 16, dl_tensor: 24,
    });
    assert_layout!(DLPackExchangeAPIHeader, size 12, align 4, { version: 0, prev_api: 8 });
    assert_layout!(DLPackExchangeAPI, size 32, align 4, {
        header: 0,
        managed_tensor_allocator: 12,
        managed_tensor_from_py_object_no_sync: 16,
        managed_tensor_to_py_object_no_sync: 20,
        dltensor_from_py_object_no_sync: 24,
        current_work_stream: 28,
    });
}
