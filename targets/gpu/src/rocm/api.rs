//! Functions and constants of HIP that the back end uses. Their types are the same in ROCm 5 to 7.

use core::ffi::{c_char, c_int, c_uint, c_void};

use crate::allocation::PoolProperties;

/// `hipError_t`.
pub(super) type Status = c_int;
/// `hipStream_t`, `hipEvent_t`, `hipModule_t`, `hipFunction_t`, `hipGraph_t`, `hipGraphExec_t`,
/// `hipMemPool_t`.
pub(super) type Handle = *mut c_void;

pub(super) const SUCCESS: Status = 0;
pub(super) const OUT_OF_MEMORY: Status = 2;
/// `hipErrorDeinitialized`: the driver is shutting down, because the process ends.
pub(super) const DEINITIALIZED: Status = 4;
pub(super) const NO_BINARY_FOR_GPU: Status = 209;
pub(super) const INVALID_HANDLE: Status = 400;
/// `hipErrorStreamCaptureImplicit`: a stream that synchronises with the default stream is being
/// recorded.
pub(super) const CAPTURE_IMPLICIT: Status = 906;

// Directions of `hipMemcpyAsync`.
pub(super) const TO_DEVICE: c_int = 1;
pub(super) const TO_HOST: c_int = 2;
pub(super) const ON_DEVICE: c_int = 3;

pub(super) const STREAM_DEFAULT: c_uint = 0;
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
pub(super) const EVENT_DEFAULT: c_uint = 0;
pub(super) const EVENT_WITHOUT_TIME: c_uint = 2;

/// Recording mode in which calls that cannot be recorded fail on this thread, but not on other
/// threads.
pub(super) const CAPTURE_THREAD_LOCAL: c_int = 1;

// Tags in `extra` of `hipModuleLaunchKernel`: the buffer, its size, and the end of the list.
pub(super) const EXTRA_BUFFER: usize = 1;
pub(super) const EXTRA_SIZE: usize = 2;
pub(super) const EXTRA_END: usize = 3;

pub(super) const CLOCK_RATE: c_int = 5;
pub(super) const L2_CACHE_SIZE: c_int = 19;
pub(super) const CAPABILITY_MAJOR: c_int = 23;
pub(super) const BLOCK_X: c_int = 26;
pub(super) const BLOCK_Y: c_int = 27;
pub(super) const BLOCK_Z: c_int = 28;
pub(super) const THREADS_PER_BLOCK: c_int = 56;
pub(super) const CAPABILITY_MINOR: c_int = 61;
pub(super) const MULTIPROCESSORS: c_int = 63;
pub(super) const REGISTERS_PER_BLOCK: c_int = 71;
pub(super) const SHARED_PER_BLOCK: c_int = 74;
pub(super) const WARP_SIZE: c_int = 87;
pub(super) const MEMORY_POOLS_SUPPORTED: c_int = 88;

/// Size of a buffer for `hipDeviceProp_tR0600`, which has 1472 bytes.
pub(super) const PROPERTIES_BYTES: usize = 4096;
/// Offset of the architecture's name in `hipDeviceProp_tR0600`.
pub(super) const ARCHITECTURE_AT: usize = 1160;
/// Maximum length of the architecture's name, in bytes.
pub(super) const ARCHITECTURE_BYTES: usize = 256;

crate::library::driver_table! {
    /// Functions of the HIP runtime.
    pub struct Api from ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"] {
        fn hipInit(flags: c_uint) -> Status;
        fn hipGetDeviceCount(count: *mut c_int) -> Status;
        fn hipSetDevice(device: c_int) -> Status;
        fn hipGetDevice(device: *mut c_int) -> Status;
        fn hipDeviceSynchronize() -> Status;
        fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> Status;
        fn hipDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int) -> Status;
        fn hipDeviceTotalMem(bytes: *mut usize, device: c_int) -> Status;
        fn hipRuntimeGetVersion(version: *mut c_int) -> Status;
        fn hipDriverGetVersion(version: *mut c_int) -> Status;
        fn hipGetErrorString(status: Status) -> *const c_char;
        fn hipGetLastError() -> Status;
        fn hipMalloc(memory: *mut *mut c_void, bytes: usize) -> Status;
        fn hipFree(memory: *mut c_void) -> Status;
        fn hipHostMalloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint) -> Status;
        fn hipHostFree(memory: *mut c_void) -> Status;
        fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Status;
        fn hipMemcpyAsync(
            target: *mut c_void,
            source: *const c_void,
            bytes: usize,
            direction: c_int,
            stream: Handle,
        ) -> Status;
        fn hipMemcpyPeerAsync(
            target: *mut c_void,
            target_device: c_int,
            source: *const c_void,
            source_device: c_int,
            bytes: usize,
            stream: Handle,
        ) -> Status;
        fn hipStreamCreateWithFlags(stream: *mut Handle, flags: c_uint) -> Status;
        fn hipStreamDestroy(stream: Handle) -> Status;
        fn hipStreamSynchronize(stream: Handle) -> Status;
        fn hipStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> Status;
        fn hipStreamIsCapturing(stream: Handle, status: *mut c_int) -> Status;
        fn hipStreamBeginCapture(stream: Handle, mode: c_int) -> Status;
        fn hipStreamEndCapture(stream: Handle, graph: *mut Handle) -> Status;
        fn hipGraphInstantiate(
            executable: *mut Handle,
            graph: Handle,
            error_node: *mut Handle,
            log: *mut c_char,
            log_bytes: usize,
        ) -> Status;
        fn hipGraphDestroy(graph: Handle) -> Status;
        fn hipGraphLaunch(executable: Handle, stream: Handle) -> Status;
        fn hipGraphExecDestroy(executable: Handle) -> Status;
        fn hipEventCreateWithFlags(event: *mut Handle, flags: c_uint) -> Status;
        fn hipEventRecord(event: Handle, stream: Handle) -> Status;
        fn hipEventSynchronize(event: Handle) -> Status;
        fn hipEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status;
        fn hipEventDestroy(event: Handle) -> Status;
        fn hipModuleLoadData(module: *mut Handle, image: *const c_void) -> Status;
        fn hipModuleUnload(module: Handle) -> Status;
        fn hipModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> Status;
        fn hipModuleLaunchKernel(
            function: Handle,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: Handle,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        ) -> Status;
        optional fn hipGetDevicePropertiesR0600(properties: *mut c_void, device: c_int) -> Status;
    }
}

crate::library::driver_table! {
    /// Functions of HIP's memory pools, which exist since ROCm 5.2.
    pub struct PoolApi from ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"] {
        fn hipMemPoolCreate(pool: *mut Handle, properties: *const PoolProperties) -> Status;
        fn hipMemPoolDestroy(pool: Handle) -> Status;
        fn hipMemPoolSetAttribute(pool: Handle, attribute: c_int, value: *mut c_void) -> Status;
        fn hipMemPoolTrimTo(pool: Handle, bytes: usize) -> Status;
        fn hipMallocFromPoolAsync(memory: *mut *mut c_void, bytes: usize, pool: Handle, stream: Handle) -> Status;
        fn hipFreeAsync(memory: *mut c_void, stream: Handle) -> Status;
    }
}
