//! The interface of a back end.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::time::Duration;

use ferrite_core::Any;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;

use super::table::unsupported;

/// A region of the memory of a device.
#[derive(Clone, Copy)]
pub struct Region {
    /// The device.
    pub device: DLDevice,
    /// A pointer of [`Backend::allocate`]; an address in main memory if the device is the CPU.
    pub data: *mut c_void,
    /// Bytes from there to the region.
    pub offset: usize,
}

/// A property of a device. The numbers are TVM's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Attribute {
    /// Whether the device can be used: 1 or 0.
    Exists = 0,
    /// Threads of a block at most.
    MaxThreadsPerBlock = 1,
    /// Threads of a warp.
    WarpSize = 2,
    /// Bytes of memory that the threads of a block share.
    SharedMemoryPerBlock = 3,
    /// Version of the instruction set, as text such as `9.0`.
    ComputeVersion = 4,
    /// Name.
    DeviceName = 5,
    /// Clock in kHz.
    MaxClockRate = 6,
    /// Number of multiprocessors.
    MultiProcessorCount = 7,
    /// Extents of a block at most, as text such as `[1024, 1024, 64]`.
    MaxThreadDimensions = 8,
    /// Registers of a block at most.
    MaxRegistersPerBlock = 9,
    /// Architecture of an AMD GPU, such as `gfx1100`.
    GcnArch = 10,
    /// Version of the programming interface.
    ApiVersion = 11,
    /// Version of the driver.
    DriverVersion = 12,
    /// Bytes of the second-level cache.
    L2CacheBytes = 13,
    /// Bytes of memory.
    TotalGlobalMemory = 14,
    /// Bytes of memory that are free.
    AvailableGlobalMemory = 15,
    /// Alignment of the rows of an image.
    ImagePitchAlignment = 16,
}

impl Attribute {
    /// The attribute with that number.
    pub const fn from_number(number: i64) -> Option<Attribute> {
        use Attribute::*;
        const ALL: [Attribute; 17] = [
            Exists,
            MaxThreadsPerBlock,
            WarpSize,
            SharedMemoryPerBlock,
            ComputeVersion,
            DeviceName,
            MaxClockRate,
            MultiProcessorCount,
            MaxThreadDimensions,
            MaxRegistersPerBlock,
            GcnArch,
            ApiVersion,
            DriverVersion,
            L2CacheBytes,
            TotalGlobalMemory,
            AvailableGlobalMemory,
            ImagePitchAlignment,
        ];
        if number < 0 || number >= ALL.len() as i64 { None } else { Some(ALL[number as usize]) }
    }
}

/// The operations of the devices of one type.
///
/// Every operation checks the device id and reports one that does not exist. A driver is opened when an operation needs it,
/// and a missing one is an error of that operation.
///
/// # Threads
/// Any thread calls any operation.
///
/// # Upstream
/// `DeviceAPI` of `include/tvm/runtime/device_api.h`, a C++ class.
pub trait Backend: Sync {
    /// The device type, such as [`device::kind::OPENCL`](ferrite_core::device::kind::OPENCL).
    fn device_type(&self) -> i32;

    /// Makes `id` the current device of this thread, the one on which kernels are launched.
    ///
    /// # Errors
    /// ValueError when there is no such device; errors of the driver.
    fn set_device(&self, id: i32) -> Result<()>;

    /// Allocates `bytes` bytes on a device. The result is what a kernel takes as a handle and a tensor as `data`; zero bytes
    /// give a pointer, too, unless the device has null for them.
    ///
    /// # Errors
    /// MemoryError when the device has no such memory; errors of the driver.
    fn allocate(&self, id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void>;

    /// Frees memory of [`allocate`](Backend::allocate). Commands that were queued before may still use it. Errors of the driver
    /// are ignored, since drivers are gone when a process ends.
    ///
    /// # Safety
    /// `data` must come from `allocate` for the same device, and not be used afterwards.
    unsafe fn free(&self, id: i32, data: *mut c_void);

    /// Copies `bytes` bytes. At least one region is on a device of this type; the other one is there or in main memory. A copy to
    /// main memory may be under way until `stream` is synchronised.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// Both regions must have so many bytes, in main memory until the copy is over; `stream` must be one of the device.
    unsafe fn copy(&self, from: Region, to: Region, bytes: usize, stream: *mut c_void) -> Result<()>;

    /// Waits until everything that was queued on a stream is done. A null stream is the default one.
    ///
    /// # Errors
    /// Errors of the driver, among them those of commands that were queued before.
    ///
    /// # Safety
    /// `stream` must be null or one of the device.
    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()>;

    /// The value of an attribute, None where the device cannot tell. Only [`Attribute::Exists`] has a value for ids that do not
    /// exist, and without a driver.
    ///
    /// # Errors
    /// Errors of the driver.
    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any>;

    /// Creates a stream. Devices with one queue give null, the default stream.
    ///
    /// # Errors
    /// Errors of the driver.
    fn create_stream(&self, _id: i32) -> Result<*mut c_void> {
        Ok(ptr::null_mut())
    }

    /// Frees a stream of [`create_stream`](Backend::create_stream).
    ///
    /// # Errors
    /// RuntimeError for a stream that is not null unless overridden; errors of the driver.
    ///
    /// # Safety
    /// `stream` must be one of the device, and not be used afterwards.
    unsafe fn free_stream(&self, _id: i32, stream: *mut c_void) -> Result<()> {
        only_default(self.device_type(), stream)
    }

    /// Makes what is queued on `after` from now on wait for what was queued on `before`, without waiting itself.
    ///
    /// # Errors
    /// RuntimeError for streams that are not null unless overridden; errors of the driver.
    ///
    /// # Safety
    /// Both streams must be null or streams of the device.
    unsafe fn order_streams(&self, _id: i32, before: *mut c_void, after: *mut c_void) -> Result<()> {
        only_default(self.device_type(), before)?;
        only_default(self.device_type(), after)
    }

    /// Tells the driver the stream that this thread works on; `TVMFFIEnvSetStream` was called before. Nothing unless the driver
    /// keeps streams of its own.
    ///
    /// # Errors
    /// As [`free_stream`](Backend::free_stream).
    ///
    /// # Safety
    /// `stream` must be null or one of the device.
    unsafe fn set_stream(&self, _id: i32, stream: *mut c_void) -> Result<()> {
        only_default(self.device_type(), stream)
    }

    /// Creates an event: a mark in a stream that others wait for. With `timing`, [`elapsed`](Backend::elapsed) tells the time
    /// between two of them, where the driver can.
    ///
    /// # Errors
    /// RuntimeError unless overridden; errors of the driver.
    fn create_event(&self, _id: i32, _timing: bool) -> Result<NonNull<c_void>> {
        Err(unsupported("events", self.device_type()))
    }

    /// Frees an event of [`create_event`](Backend::create_event). Commands that wait for it still do. Errors of the driver are
    /// ignored.
    ///
    /// # Safety
    /// `event` must come from `create_event` for the same device, and not be used afterwards.
    unsafe fn free_event(&self, _id: i32, _event: NonNull<c_void>) {}

    /// Records an event in a stream: it is over when everything that was queued there before is done. An earlier record is
    /// forgotten.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The event and the stream must be of the device, the stream may be null. No other thread may use the event meanwhile.
    unsafe fn record_event(&self, _id: i32, _event: NonNull<c_void>, _stream: *mut c_void) -> Result<()> {
        Err(unsupported("events", self.device_type()))
    }

    /// Makes what is queued on `stream` from now on wait for an event, without waiting itself where the driver can. An event
    /// that was never recorded is over.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must be null or of device `id`, the event of any device of this type.
    unsafe fn wait_for_event(&self, _id: i32, _event: NonNull<c_void>, _stream: *mut c_void) -> Result<()> {
        Err(unsupported("events", self.device_type()))
    }

    /// Waits until an event is over. One that was never recorded is.
    ///
    /// # Errors
    /// Errors of the driver, among them those of commands that were queued before.
    ///
    /// # Safety
    /// The event must be of the device.
    unsafe fn synchronize_event(&self, _id: i32, _event: NonNull<c_void>) -> Result<()> {
        Err(unsupported("events", self.device_type()))
    }

    /// The time between two events that are over, as the device measured it; zero if `end` came first. None where the driver
    /// cannot tell, and for events without timing or record.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// Both events must be of the device, and over.
    unsafe fn elapsed(
        &self,
        _id: i32,
        _start: NonNull<c_void>,
        _end: NonNull<c_void>,
    ) -> Result<Option<Duration>> {
        Ok(None)
    }

    /// Allocates a workspace: memory that is given back within one call of compiled code. Back ends keep returned workspaces
    /// for the next call.
    ///
    /// # Errors
    /// As [`allocate`](Backend::allocate).
    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>>;

    /// Takes back a workspace. Kernels that were queued before may still use it.
    ///
    /// # Errors
    /// ValueError when it is none of the device.
    ///
    /// # Safety
    /// `workspace` must come from [`allocate_workspace`](Backend::allocate_workspace), be given back once, and not be used by
    /// commands that are queued later.
    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()>;
}

fn only_default(device_type: i32, stream: *mut c_void) -> Result<()> {
    if stream.is_null() { Ok(()) } else { Err(unsupported("streams beside the default one", device_type)) }
}

#[cfg(test)]
mod tests {
    use super::Attribute;

    #[test]
    fn attributes_have_the_numbers_of_tvm() {
        for number in 0..17 {
            assert_eq!(Attribute::from_number(number).map(|attribute| attribute as i64), Some(number));
        }
        for number in [-1, 17, i64::MIN, i64::MAX] {
            assert_eq!(Attribute::from_number(number), None);
        }
    }
}
