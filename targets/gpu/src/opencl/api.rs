//! Functions and constants of OpenCL 1.2 that the back end uses.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// Status or error code: `cl_int`.
pub(super) type Status = c_int;
/// `cl_platform_id`, `cl_device_id`, `cl_context`, `cl_command_queue`, `cl_program`, `cl_kernel`,
/// `cl_mem`, `cl_event`.
pub(super) type Handle = *mut c_void;

pub(super) const SUCCESS: Status = 0;
pub(super) const DEVICE_NOT_FOUND: Status = -1;
pub(super) const MEM_OBJECT_ALLOCATION_FAILURE: Status = -4;
pub(super) const OUT_OF_RESOURCES: Status = -5;
pub(super) const OUT_OF_HOST_MEMORY: Status = -6;
pub(super) const INVALID_BUFFER_SIZE: Status = -61;
pub(super) const PLATFORM_NOT_FOUND: Status = -1001;

pub(super) const TRUE: c_uint = 1;

pub(super) const DEVICE_TYPE_CPU: u64 = 1 << 1;
pub(super) const DEVICE_TYPE_GPU: u64 = 1 << 2;
pub(super) const MEM_READ_WRITE: u64 = 1;

pub(super) const PLATFORM_NAME: c_uint = 0x0902;
pub(super) const DEVICE_MAX_COMPUTE_UNITS: c_uint = 0x1002;
pub(super) const DEVICE_MAX_WORK_GROUP_SIZE: c_uint = 0x1004;
pub(super) const DEVICE_MAX_WORK_ITEM_SIZES: c_uint = 0x1005;
pub(super) const DEVICE_MAX_CLOCK_FREQUENCY: c_uint = 0x100c;
pub(super) const DEVICE_GLOBAL_MEM_CACHE_SIZE: c_uint = 0x101e;
pub(super) const DEVICE_GLOBAL_MEM_SIZE: c_uint = 0x101f;
pub(super) const DEVICE_LOCAL_MEM_SIZE: c_uint = 0x1023;
pub(super) const DEVICE_NAME: c_uint = 0x102b;
pub(super) const DRIVER_VERSION: c_uint = 0x102d;
pub(super) const DEVICE_VERSION: c_uint = 0x102f;
pub(super) const PROGRAM_BINARY_SIZES: c_uint = 0x1165;
pub(super) const PROGRAM_BINARIES: c_uint = 0x1166;
pub(super) const PROGRAM_BUILD_LOG: c_uint = 0x1183;

crate::library::driver_table! {
    /// Functions of the ICD loader.
    pub struct Api from ["libOpenCL.so.1", "libOpenCL.so"] {
        fn clGetPlatformIDs(count: c_uint, platforms: *mut Handle, found: *mut c_uint) -> Status;
        fn clGetPlatformInfo(platform: Handle, name: c_uint, size: usize, value: *mut c_void, written: *mut usize) -> Status;
        fn clGetDeviceIDs(platform: Handle, kind: u64, count: c_uint, devices: *mut Handle, found: *mut c_uint) -> Status;
        fn clGetDeviceInfo(device: Handle, name: c_uint, size: usize, value: *mut c_void, written: *mut usize) -> Status;
        fn clCreateContext(
            properties: *const isize,
            count: c_uint,
            devices: *const Handle,
            notify: *const c_void,
            data: *mut c_void,
            status: *mut Status,
        ) -> Handle;
        fn clReleaseContext(context: Handle) -> Status;
        fn clCreateCommandQueue(context: Handle, device: Handle, properties: u64, status: *mut Status) -> Handle;
        fn clReleaseCommandQueue(queue: Handle) -> Status;
        fn clCreateBuffer(context: Handle, flags: u64, size: usize, host: *mut c_void, status: *mut Status) -> Handle;
        fn clReleaseMemObject(memory: Handle) -> Status;
        fn clEnqueueReadBuffer(
            queue: Handle,
            buffer: Handle,
            blocking: c_uint,
            offset: usize,
            size: usize,
            target: *mut c_void,
            wait_count: c_uint,
            wait: *const Handle,
            event: *mut Handle,
        ) -> Status;
        fn clEnqueueWriteBuffer(
            queue: Handle,
            buffer: Handle,
            blocking: c_uint,
            offset: usize,
            size: usize,
            source: *const c_void,
            wait_count: c_uint,
            wait: *const Handle,
            event: *mut Handle,
        ) -> Status;
        fn clEnqueueCopyBuffer(
            queue: Handle,
            source: Handle,
            target: Handle,
            source_offset: usize,
            target_offset: usize,
            size: usize,
            wait_count: c_uint,
            wait: *const Handle,
            event: *mut Handle,
        ) -> Status;
        fn clFinish(queue: Handle) -> Status;
        fn clEnqueueMarkerWithWaitList(
            queue: Handle,
            wait_count: c_uint,
            wait: *const Handle,
            event: *mut Handle,
        ) -> Status;
        fn clWaitForEvents(count: c_uint, events: *const Handle) -> Status;
        fn clReleaseEvent(event: Handle) -> Status;
        fn clCreateProgramWithSource(
            context: Handle,
            count: c_uint,
            texts: *const *const c_char,
            lengths: *const usize,
            status: *mut Status,
        ) -> Handle;
        fn clCreateProgramWithBinary(
            context: Handle,
            count: c_uint,
            devices: *const Handle,
            lengths: *const usize,
            binaries: *const *const u8,
            binary_status: *mut Status,
            status: *mut Status,
        ) -> Handle;
        fn clBuildProgram(
            program: Handle,
            count: c_uint,
            devices: *const Handle,
            options: *const c_char,
            notify: *const c_void,
            data: *mut c_void,
        ) -> Status;
        fn clGetProgramBuildInfo(
            program: Handle,
            device: Handle,
            name: c_uint,
            size: usize,
            value: *mut c_void,
            written: *mut usize,
        ) -> Status;
        fn clGetProgramInfo(program: Handle, name: c_uint, size: usize, value: *mut c_void, written: *mut usize) -> Status;
        fn clRetainProgram(program: Handle) -> Status;
        fn clReleaseProgram(program: Handle) -> Status;
        fn clCreateKernel(program: Handle, name: *const c_char, status: *mut Status) -> Handle;
        fn clReleaseKernel(kernel: Handle) -> Status;
        fn clSetKernelArg(kernel: Handle, index: c_uint, size: usize, value: *const c_void) -> Status;
        fn clEnqueueNDRangeKernel(
            queue: Handle,
            kernel: Handle,
            dimensions: c_uint,
            offset: *const usize,
            global: *const usize,
            local: *const usize,
            wait_count: c_uint,
            wait: *const Handle,
            event: *mut Handle,
        ) -> Status;
    }
}
