//! The interface that a device back end implements, and the types in its signatures.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use core::time::Duration;

use ferrite_core::Any;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;

use super::error::unsupported;

/// A memory region on a device or in main memory.
#[derive(Clone, Copy)]
pub struct Region {
    /// Device that the memory belongs to.
    pub device: DLDevice,
    /// Pointer from [`Backend::allocate`], or an address in main memory if the device is the CPU.
    pub data: *mut c_void,
    /// Offset of the region from `data`, in bytes.
    pub offset: usize,
}

/// A device attribute, numbered as in TVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Attribute {
    /// Whether the device can be used.
    Exists = 0,
    /// Maximum number of threads per block.
    MaxThreadsPerBlock = 1,
    /// Number of threads per warp.
    WarpSize = 2,
    /// Bytes of shared memory per block.
    SharedMemoryPerBlock = 3,
    /// Compute capability, as a string such as `9.0`.
    ComputeVersion = 4,
    /// Name of the device, as reported by the driver.
    DeviceName = 5,
    /// Maximum clock rate in kHz.
    MaxClockRate = 6,
    /// Number of multiprocessors.
    MultiProcessorCount = 7,
    /// Maximum block extents, as a string such as `[1024, 1024, 64]`.
    MaxThreadDimensions = 8,
    /// Maximum number of registers per block.
    MaxRegistersPerBlock = 9,
    /// Architecture of an AMD GPU, such as `gfx1100`.
    GcnArch = 10,
    /// Version of the driver's API.
    ApiVersion = 11,
    /// Version of the driver.
    DriverVersion = 12,
    /// Bytes of L2 cache.
    L2CacheBytes = 13,
    /// Total bytes of device memory.
    TotalGlobalMemory = 14,
    /// Free bytes of device memory.
    AvailableGlobalMemory = 15,
    /// Alignment of the row pitch of images.
    ImagePitchAlignment = 16,
}

impl Attribute {
    /// Returns the attribute with the given number; `None` for unknown numbers.
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

/// Operations of a back end on the devices of one type.
///
/// Every operation checks the device id and raises an error for a device that does not exist. The
/// first operation that needs the driver opens it, and raises an error if the driver is missing.
///
/// # Threads
/// Operations may be called from any thread.
///
/// # Safety
/// Callers use results without a check: tensors and copies address the memory, and other operations
/// get the handles. Implementations must guarantee:
/// - [`device_type`](Backend::device_type) always returns the same type, which is the implementor's
///   own.
/// - [`allocate`](Backend::allocate) and [`allocate_workspace`](Backend::allocate_workspace) return
///   memory of the device with that size and alignment, which nothing else uses until it is freed.
///   Main memory, which the CPU can address, is initialised.
/// - [`copy`](Backend::copy) has read a source of device type CPU when it returns.
/// - Handles of streams, events and graphs are valid on any thread until they are freed. Where an
///   operation waits, the commands are complete when it returns `Ok`.
/// - Unsafe operations are sound for every caller that keeps their promise, from several threads at
///   once unless they say otherwise.
///
/// # Upstream
/// `DeviceAPI` of `include/tvm/runtime/device_api.h`, a C++ class.
pub unsafe trait Backend: Sync {
    /// Returns the device type, such as
    /// [`device::kind::OPENCL`](ferrite_core::value::device::kind::OPENCL).
    fn device_type(&self) -> i32;

    /// Makes `id` the current device of this thread. Kernels are launched on the current device.
    ///
    /// # Errors
    /// ValueError if there is no such device; errors of the driver.
    fn set_device(&self, id: i32) -> Result<()>;

    /// Allocates `bytes` bytes of device memory. Returns the handle that is passed to kernels and
    /// stored in the `data` field of tensors. An allocation of zero bytes returns a valid pointer
    /// too, or null if that is how the device represents it.
    ///
    /// # Errors
    /// MemoryError if the device is out of memory; errors of the driver.
    fn allocate(&self, id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void>;

    /// Frees memory from [`allocate`](Backend::allocate). Commands queued before may still use it.
    /// Driver errors are ignored, since the driver may already be unloaded at process exit.
    ///
    /// # Safety
    /// `data` must come from `allocate` for the same device, and not be used afterwards.
    unsafe fn free(&self, id: i32, data: *mut c_void);

    /// Gives memory that was freed, and that the back end keeps for later allocations, back to the
    /// driver. The default implementation does nothing.
    ///
    /// # Errors
    /// Errors of the driver.
    fn release_unused_memory(&self, _id: i32) -> Result<()> {
        Ok(())
    }

    /// Copies `bytes` bytes. At least one region is on a device of this type; the other is on such
    /// a device too, or in main memory. A copy to main memory, or from pinned memory, may be
    /// incomplete until `stream` is synchronised.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// Both regions must be at least `bytes` long, and regions in main memory must stay valid until
    /// the copy is complete; `stream` must belong to the device.
    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()>;

    /// Waits until all commands queued on a stream are complete. Null is the default stream.
    ///
    /// # Errors
    /// Errors of the driver, including those of commands queued before.
    ///
    /// # Safety
    /// `stream` must be null or belong to the device.
    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()>;

    /// Returns whether [`synchronize`](Backend::synchronize) may wait in the middle of a call. In a
    /// web page it may not: JavaScript awaits the device after the call has returned.
    fn can_wait(&self) -> bool {
        true
    }

    /// Keeps the owner of main memory alive until the copies to it that are queued are complete.
    /// Called in place of [`synchronize`](Backend::synchronize) if
    /// [`can_wait`](Backend::can_wait) returns `false`. The default implementation does nothing.
    ///
    /// # Errors
    /// MemoryError; errors of the driver.
    fn keep_until_copied(&self, _id: i32, _owner: Any) -> Result<()> {
        Ok(())
    }

    /// Returns the value of an attribute; None if the device does not report it. Only
    /// [`Attribute::Exists`] has a value for device ids that do not exist, and if the driver is
    /// missing.
    ///
    /// # Errors
    /// Errors of the driver.
    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any>;

    /// Creates a stream. Devices with a single queue return null, the default stream.
    ///
    /// # Errors
    /// Errors of the driver.
    fn create_stream(&self, _id: i32) -> Result<*mut c_void> {
        Ok(ptr::null_mut())
    }

    /// Creates a stream whose commands are to be recorded as a graph, while other threads use the
    /// default stream. The default implementation is [`create_stream`](Backend::create_stream).
    ///
    /// # Errors
    /// Errors of the driver.
    fn create_recording_stream(&self, id: i32) -> Result<*mut c_void> {
        self.create_stream(id)
    }

    /// Frees a stream from [`create_stream`](Backend::create_stream).
    ///
    /// # Errors
    /// Errors of the driver. The default implementation returns RuntimeError for a stream other
    /// than null.
    ///
    /// # Safety
    /// `stream` must belong to the device, and must not be used afterwards.
    unsafe fn free_stream(&self, _id: i32, stream: *mut c_void) -> Result<()> {
        only_default(self.device_type(), stream)
    }

    /// Makes commands that are queued on `after` from now on wait for all commands already queued
    /// on `before`. Does not block.
    ///
    /// # Errors
    /// Errors of the driver. The default implementation returns RuntimeError for streams other than
    /// null.
    ///
    /// # Safety
    /// Both streams must be null or belong to the device.
    unsafe fn order_streams(
        &self,
        _id: i32,
        before: *mut c_void,
        after: *mut c_void,
    ) -> Result<()> {
        only_default(self.device_type(), before)?;
        only_default(self.device_type(), after)
    }

    /// Notifies the driver that the current stream of this thread has changed
    /// (`TVMFFIEnvSetStream`). Does nothing unless the driver tracks streams itself.
    ///
    /// # Errors
    /// Errors of [`free_stream`](Backend::free_stream).
    ///
    /// # Safety
    /// `stream` must be null or belong to the device.
    unsafe fn set_stream(&self, _id: i32, stream: *mut c_void) -> Result<()> {
        only_default(self.device_type(), stream)
    }

    /// Creates an event, a marker in a stream for synchronisation. With `timing`,
    /// [`elapsed`](Backend::elapsed) measures the time between two events, if the driver supports
    /// it.
    ///
    /// # Errors
    /// Errors of the driver. The default implementation returns RuntimeError.
    fn create_event(&self, _id: i32, _timing: bool) -> Result<NonNull<c_void>> {
        Err(unsupported("events", self.device_type()))
    }

    /// Frees an event from [`create_event`](Backend::create_event). Commands that already wait for
    /// it are not affected. Driver errors are ignored.
    ///
    /// # Safety
    /// `event` must come from `create_event` for the same device, and must not be used afterwards.
    unsafe fn free_event(&self, _id: i32, _event: NonNull<c_void>) {}

    /// Records an event in a stream. It completes when all commands queued there before are
    /// complete. Recording again replaces the earlier record.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// Event and stream must belong to the device; the stream may be null. No other thread may use
    /// the event at the same time.
    unsafe fn record_event(
        &self,
        _id: i32,
        _event: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        Err(unsupported("events", self.device_type()))
    }

    /// Makes commands that are queued on `stream` from now on wait for an event, without blocking
    /// if the driver can. An event that was never recorded counts as complete.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must be null or belong to device `id`; the event may belong to any device of this
    /// type.
    unsafe fn wait_for_event(
        &self,
        _id: i32,
        _event: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        Err(unsupported("events", self.device_type()))
    }

    /// Waits until an event is complete. An event that was never recorded counts as complete.
    ///
    /// # Errors
    /// Errors of the driver, including those of commands queued before the event.
    ///
    /// # Safety
    /// The event must belong to the device.
    unsafe fn synchronize_event(&self, _id: i32, _event: NonNull<c_void>) -> Result<()> {
        Err(unsupported("events", self.device_type()))
    }

    /// Returns the time between two completed events, measured by the device; zero if `end`
    /// completed first. Returns `None` if the driver cannot measure it, or if either event has no
    /// timing or was never recorded.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// Both events must belong to the device and be complete.
    unsafe fn elapsed(
        &self,
        _id: i32,
        _start: NonNull<c_void>,
        _end: NonNull<c_void>,
    ) -> Result<Option<Duration>> {
        Ok(None)
    }

    /// Returns whether devices of this type can record commands in graphs.
    fn has_graphs(&self) -> bool {
        false
    }

    /// Returns whether commands on a stream are being recorded, by whomever.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    unsafe fn is_recording(&self, _id: i32, _stream: *mut c_void) -> Result<bool> {
        Ok(false)
    }

    /// Records the commands that `body` queues on a stream, which do not run meanwhile. Returns the
    /// graph.
    ///
    /// # Errors
    /// Errors of `body` and of the driver, which refuses commands that cannot be recorded, such as
    /// allocations and waits. The default implementation returns RuntimeError.
    ///
    /// # Safety
    /// The stream must belong to the device, must not be null, and no other thread may use it
    /// meanwhile.
    unsafe fn record_graph(
        &self,
        _id: i32,
        _stream: *mut c_void,
        _body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<NonNull<c_void>> {
        Err(unsupported("graphs", self.device_type()))
    }

    /// Queues the commands of a graph on a stream.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The graph must come from [`record_graph`](Backend::record_graph) for the same device, the
    /// stream must be null or belong to it, and the memory that the commands use must still be
    /// allocated.
    unsafe fn launch_graph(
        &self,
        _id: i32,
        _graph: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        Err(unsupported("graphs", self.device_type()))
    }

    /// Frees a graph. Its commands that are queued still run. Driver errors are ignored.
    ///
    /// # Safety
    /// The graph must come from [`record_graph`](Backend::record_graph) for the same device, and
    /// must not be used afterwards.
    unsafe fn free_graph(&self, _id: i32, _graph: NonNull<c_void>) {}

    /// Allocates a workspace: scratch memory that compiled code frees before its call returns. Back
    /// ends pool freed workspaces for reuse.
    ///
    /// # Errors
    /// Errors of [`allocate`](Backend::allocate).
    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>>;

    /// Returns a workspace to the pool. Kernels queued before may still use it.
    ///
    /// # Errors
    /// ValueError if the workspace does not belong to the device.
    ///
    /// # Safety
    /// `workspace` must come from [`allocate_workspace`](Backend::allocate_workspace), be freed
    /// only once, and not be used by commands queued later.
    /// commands queued later.
    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()>;
}

fn only_default(device_type: i32, stream: *mut c_void) -> Result<()> {
    if stream.is_null() {
        Ok(())
    } else {
        Err(unsupported("streams beside the default one", device_type))
    }
}

#[cfg(test)]
mod tests {
    use super::Attribute;

    #[test]
    fn attributes_have_the_numbers_of_tvm() {
        for number in 0..17 {
            assert_eq!(
                Attribute::from_number(number).map(|attribute| attribute as i64),
                Some(number)
            );
        }
        for number in [-1, 17, i64::MIN, i64::MAX] {
            assert_eq!(Attribute::from_number(number), None);
        }
    }
}
