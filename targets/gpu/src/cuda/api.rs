//! Functions, records and constants of libcuda that the back end uses. All exist since driver 520
//! (CUDA 11.8).

use core::ffi::{c_char, c_int, c_uint, c_void};

use crate::allocation::PoolProperties;

/// `CUresult`.
pub(super) type Status = c_int;
/// `CUdevice`, a device number.
pub(super) type DeviceNumber = c_int;
/// `CUcontext`, `CUstream`, `CUevent`, `CUgraph`, `CUgraphExec`, `CUmodule`, `CUfunction`,
/// `CUmemoryPool`.
pub(super) type Handle = *mut c_void;
/// `CUdeviceptr`, a device address.
pub(super) type Address = u64;

pub(super) const SUCCESS: Status = 0;
pub(super) const INVALID_VALUE: Status = 1;
pub(super) const OUT_OF_MEMORY: Status = 2;
/// `CUDA_ERROR_DEINITIALIZED`: the driver is shutting down, because the process ends.
pub(super) const DEINITIALIZED: Status = 4;
pub(super) const INVALID_HANDLE: Status = 400;
/// `CUDA_ERROR_STREAM_CAPTURE_IMPLICIT`: a stream that synchronises with the default stream is
/// being recorded.
pub(super) const CAPTURE_IMPLICIT: Status = 906;

// Device attributes.
pub(super) const MAX_THREADS_PER_BLOCK: c_int = 1;
pub(super) const MAX_BLOCK_DIM_X: c_int = 2;
pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 8;
pub(super) const WARP_SIZE: c_int = 10;
pub(super) const MAX_REGISTERS_PER_BLOCK: c_int = 12;
pub(super) const CLOCK_RATE: c_int = 13;
pub(super) const MULTIPROCESSOR_COUNT: c_int = 16;
pub(super) const L2_CACHE_SIZE: c_int = 38;
pub(super) const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
pub(super) const COMPUTE_CAPABILITY_MINOR: c_int = 76;
pub(super) const MEMORY_POOLS_SUPPORTED: c_int = 115;

// Function attributes.
pub(super) const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;
pub(super) const NON_PORTABLE_CLUSTER_SIZE_ALLOWED: c_int = 14;

// Flags of streams and events.
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
pub(super) const EVENT_DEFAULT: c_uint = 0;
pub(super) const EVENT_DISABLE_TIMING: c_uint = 2;

/// Recording mode in which calls that cannot be recorded fail on this thread, but not on other
/// threads.
pub(super) const CAPTURE_THREAD_LOCAL: c_int = 1;

// Linker options: the buffer for the error log, and its size.
pub(super) const ERROR_LOG_BUFFER: c_int = 5;
pub(super) const ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;

// Identifiers of launch attributes.
pub(super) const COOPERATIVE: c_int = 2;
pub(super) const CLUSTER_DIMENSION: c_int = 4;
pub(super) const PROGRAMMATIC_STREAM_SERIALIZATION: c_int = 6;
pub(super) const PREFERRED_CLUSTER_DIMENSION: c_int = 11;

/// `CUlaunchAttribute`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(super) struct LaunchAttribute {
    pub id: c_int,
    pub padding: c_int,
    /// Extents of a cluster; a flag uses only the first element.
    pub value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub dynamic_shared_bytes: c_uint,
    pub stream: Handle,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: c_uint,
}

const _: () = {
    use core::mem::offset_of;
    assert!(size_of::<LaunchAttribute>() == 72 && offset_of!(LaunchAttribute, value) == 8);
    assert!(size_of::<LaunchConfig>() == 56 && offset_of!(LaunchConfig, block) == 12);
    assert!(
        offset_of!(LaunchConfig, dynamic_shared_bytes) == 24
            && offset_of!(LaunchConfig, stream) == 32
    );
    assert!(
        offset_of!(LaunchConfig, attributes) == 40
            && offset_of!(LaunchConfig, attribute_count) == 48
    );
};

crate::library::driver_table! {
    /// Functions of the CUDA driver.
    pub struct Api from ["libcuda.so.1"] {
        fn cuInit(flags: c_uint) -> Status;
        fn cuDriverGetVersion(version: *mut c_int) -> Status;
        fn cuGetErrorName(error: Status, name: *mut *const c_char) -> Status;
        fn cuDeviceGetCount(count: *mut c_int) -> Status;
        fn cuDeviceGet(device: *mut DeviceNumber, ordinal: c_int) -> Status;
        fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: DeviceNumber) -> Status;
        fn cuDeviceGetName(name: *mut c_char, len: c_int, device: DeviceNumber) -> Status;
        fn cuDeviceTotalMem_v2(bytes: *mut usize, device: DeviceNumber) -> Status;
        fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: DeviceNumber) -> Status;
        fn cuCtxSetCurrent(context: Handle) -> Status;
        fn cuCtxGetCurrent(context: *mut Handle) -> Status;
        fn cuCtxGetDevice(device: *mut DeviceNumber) -> Status;
        fn cuCtxSynchronize() -> Status;
        fn cuMemAlloc_v2(address: *mut Address, bytes: usize) -> Status;
        fn cuMemFree_v2(address: Address) -> Status;
        fn cuMemPoolCreate(pool: *mut Handle, properties: *const PoolProperties) -> Status;
        fn cuMemPoolDestroy(pool: Handle) -> Status;
        fn cuMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> Status;
        fn cuMemPoolTrimTo(pool: Handle, bytes: usize) -> Status;
        fn cuMemAllocFromPoolAsync(address: *mut Address, bytes: usize, pool: Handle, stream: Handle) -> Status;
        fn cuMemFreeAsync(address: Address, stream: Handle) -> Status;
        fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) -> Status;
        fn cuMemFreeHost(pointer: *mut c_void) -> Status;
        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status;
        fn cuMemcpyHtoDAsync_v2(to: Address, from: *const c_void, bytes: usize, stream: Handle) -> Status;
        fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Address, bytes: usize, stream: Handle) -> Status;
        fn cuMemcpyDtoDAsync_v2(to: Address, from: Address, bytes: usize, stream: Handle) -> Status;
        fn cuMemcpyPeerAsync(
            to: Address,
            to_context: Handle,
            from: Address,
            from_context: Handle,
            bytes: usize,
            stream: Handle,
        ) -> Status;
        fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> Status;
        fn cuStreamDestroy_v2(stream: Handle) -> Status;
        fn cuStreamSynchronize(stream: Handle) -> Status;
        fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> Status;
        fn cuStreamIsCapturing(stream: Handle, status: *mut c_int) -> Status;
        fn cuStreamBeginCapture_v2(stream: Handle, mode: c_int) -> Status;
        fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> Status;
        fn cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, flags: u64) -> Status;
        fn cuGraphDestroy(graph: Handle) -> Status;
        fn cuGraphLaunch(executable: Handle, stream: Handle) -> Status;
        fn cuGraphExecDestroy(executable: Handle) -> Status;
        fn cuEventCreate(event: *mut Handle, flags: c_uint) -> Status;
        fn cuEventRecord(event: Handle, stream: Handle) -> Status;
        fn cuEventSynchronize(event: Handle) -> Status;
        fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status;
        fn cuEventDestroy_v2(event: Handle) -> Status;
        fn cuModuleLoadDataEx(
            module: *mut Handle,
            image: *const c_void,
            option_count: c_uint,
            options: *const c_int,
            values: *const *mut c_void,
        ) -> Status;
        fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> Status;
        fn cuModuleUnload(module: Handle) -> Status;
        fn cuFuncSetAttribute(function: Handle, attribute: c_int, value: c_int) -> Status;
        fn cuLaunchKernelEx(
            config: *const LaunchConfig,
            function: Handle,
            parameters: *const *const c_void,
            extra: *const *const c_void,
        ) -> Status;
        optional fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, bytes: *mut usize) -> Status;
        optional fn cuTensorMapEncodeTiled(
            map: *mut c_void,
            data_type: c_int,
            rank: c_uint,
            address: *mut c_void,
            extents: *const u64,
            strides: *const u64,
            box_extents: *const u32,
            element_strides: *const u32,
            interleave: c_int,
            swizzle: c_int,
            promotion: c_int,
            fill: c_int,
        ) -> Status;
    }
}
