//! A Metal device: buffers, streams and copies.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLBlitCommandEncoder, MTLBuffer, MTLCommandBuffer, MTLCommandEncoder, MTLDevice,
    MTLResourceOptions,
};

use super::super::aligned::{Aligned, UNIT};
use super::failure;
use super::stream::Stream;
use crate::forks;
use crate::workspace::{DeviceMemory, Workspaces};

type MetalBuffer = ProtocolObject<dyn MTLBuffer>;

/// A Metal device.
pub struct Device {
    metal: Retained<ProtocolObject<dyn MTLDevice>>,
    default_stream: &'static Stream,
    /// Freed streams, reused for new ones.
    idle: Mutex<Buffer<&'static Stream>>,
    workspaces: Workspaces,
}

impl Device {
    /// Creates a device with its default stream.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(metal: Retained<ProtocolObject<dyn MTLDevice>>) -> Result<Device> {
        let default_stream = Stream::new(&metal)?;
        let (idle, workspaces) = (Mutex::new(Buffer::new()), Workspaces::new());
        Ok(Device { metal, default_stream, idle, workspaces })
    }

    /// Returns Metal's device object.
    pub(super) fn metal(&self) -> &ProtocolObject<dyn MTLDevice> {
        &self.metal
    }

    /// Creates a buffer that only the device accesses.
    ///
    /// # Errors
    /// MemoryError.
    pub(in super::super) fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        let buffer = self.buffer(bytes, MTLResourceOptions::StorageModePrivate)?;
        let pointer = Retained::into_raw(buffer).cast::<c_void>();
        NonNull::new(pointer).ok_or_else(|| failure::missing("buffer"))
    }

    /// Frees a buffer.
    ///
    /// # Safety
    /// The buffer must come from [`allocate`](Device::allocate), and must not be used afterwards.
    pub(in super::super) unsafe fn free(&self, memory: NonNull<c_void>) {
        if !forks::is_child() {
            // SAFETY: the caller's promise; queued command buffers retain the buffer.
            drop(unsafe { Retained::from_raw(memory.cast::<MetalBuffer>().as_ptr()) });
        }
    }

    /// Returns a workspace for commands of a stream, from the device's pool.
    ///
    /// # Errors
    /// MemoryError.
    pub(in super::super) fn allocate_workspace(
        &self,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<NonNull<c_void>> {
        self.workspaces.allocate(self, bytes, stream)
    }

    /// Returns a workspace to the device's pool.
    ///
    /// # Errors
    /// ValueError if it does not belong to this device.
    pub(in super::super) fn free_workspace(
        &self,
        workspace: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        self.workspaces.free::<Device>(workspace, stream)
    }

    // Streams.

    /// Returns the stream that a handle refers to; null is the default stream.
    ///
    /// # Safety
    /// The handle must be null or come from [`create_stream`](Device::create_stream).
    pub(super) unsafe fn stream(&self, handle: *mut c_void) -> &'static Stream {
        // SAFETY: the caller's promise; streams are never freed.
        unsafe { handle.cast::<Stream>().as_ref() }.unwrap_or(self.default_stream)
    }

    fn idle(&self) -> MutexGuard<'_, Buffer<&'static Stream>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a stream, or reuses a freed one.
    ///
    /// # Errors
    /// MemoryError.
    pub(in super::super) fn create_stream(&self) -> Result<*mut c_void> {
        let idle = self.idle().pop();
        let stream = match idle {
            Some(stream) => stream,
            None => Stream::new(&self.metal)?,
        };
        Ok(ptr::from_ref(stream).cast_mut().cast())
    }

    /// Frees a stream after its commands are complete.
    ///
    /// # Errors
    /// InternalError if a command failed and the failure was not reported yet.
    ///
    /// # Safety
    /// The handle must come from [`create_stream`](Device::create_stream), and must not be used
    /// afterwards.
    pub(in super::super) unsafe fn free_stream(&self, handle: *mut c_void) -> Result<()> {
        self.workspaces.forget(self, handle);
        // SAFETY: the caller's promise.
        let stream = unsafe { self.stream(handle) };
        let result = stream.synchronize();
        self.idle().try_push(stream)?;
        result
    }

    /// Waits for a stream.
    ///
    /// # Errors
    /// InternalError if a command failed and the failure was not reported yet.
    ///
    /// # Safety
    /// Same requirements as [`stream`](Device::stream).
    pub(in super::super) unsafe fn synchronize(&self, handle: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        let stream = unsafe { self.stream(handle) };
        stream.synchronize()
    }

    // Copies.

    /// Copies to main memory through a shared buffer, and waits for the copy.
    ///
    /// # Errors
    /// MemoryError; InternalError if a command failed and the failure was not reported yet.
    ///
    /// # Safety
    /// Both sides must have `bytes` bytes; the handle must be null or come from
    /// [`create_stream`](Device::create_stream).
    pub(in super::super) unsafe fn read(
        &self,
        stream: *mut c_void,
        buffer: NonNull<c_void>,
        offset: usize,
        to: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the buffer and the stream.
        let (buffer, stream) =
            unsafe { (buffer.cast::<MetalBuffer>().as_ref(), self.stream(stream)) };
        let range = Aligned::around(offset, bytes);
        autoreleasepool(|_| {
            let staging = self.read_range(stream, buffer, range)?;
            // SAFETY: the staging buffer contains the range, and the caller guarantees the target.
            unsafe {
                let content = staging.contents().cast::<u8>().as_ptr().add(range.before);
                content.copy_to_nonoverlapping(to, bytes);
            }
            Ok(())
        })
    }

    /// Copies from main memory through a shared buffer. Main memory may be reused on return; the
    /// copy from the shared buffer to the device is queued.
    ///
    /// # Errors
    /// Same errors as [`read`](Device::read).
    ///
    /// # Safety
    /// Same requirements as [`read`](Device::read).
    pub(in super::super) unsafe fn write(
        &self,
        stream: *mut c_void,
        from: *const u8,
        buffer: NonNull<c_void>,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the buffer and the stream.
        let (buffer, stream) =
            unsafe { (buffer.cast::<MetalBuffer>().as_ref(), self.stream(stream)) };
        let range = Aligned::around(offset, bytes);
        autoreleasepool(|_| {
            let staging = if range.is_exact(bytes) {
                self.buffer(range.bytes, MTLResourceOptions::StorageModeShared)?
            } else {
                self.read_range(stream, buffer, range)?
            };
            // SAFETY: the staging buffer contains the range, and the caller guarantees the source.
            unsafe {
                let content = staging.contents().cast::<u8>().as_ptr().add(range.before);
                content.copy_from_nonoverlapping(from, bytes);
            }
            blit(stream, (&staging, 0), (buffer, range.start), range.bytes)
        })
    }

    /// Queues a copy within the device.
    ///
    /// # Errors
    /// Same errors as [`read`](Device::read).
    ///
    /// # Safety
    /// Same requirements as [`read`](Device::read).
    pub(in super::super) unsafe fn copy(
        &self,
        stream: *mut c_void,
        from: (NonNull<c_void>, usize),
        to: (NonNull<c_void>, usize),
        bytes: usize,
    ) -> Result<()> {
        let is_aligned = [from.1, to.1, bytes].iter().all(|number| number.is_multiple_of(UNIT));
        if !is_aligned {
            let mut staging = Buffer::new();
            staging.try_resize(bytes, 0u8)?;
            // SAFETY: the caller's promise.
            return unsafe {
                self.read(stream, from.0, from.1, staging.as_mut_slice().as_mut_ptr(), bytes)?;
                self.write(stream, staging.as_ptr(), to.0, to.1, bytes)
            };
        }
        // SAFETY: the caller guarantees the buffers and the stream.
        let (source, target, stream) = unsafe {
            (
                from.0.cast::<MetalBuffer>().as_ref(),
                to.0.cast::<MetalBuffer>().as_ref(),
                self.stream(stream),
            )
        };
        autoreleasepool(|_| blit(stream, (source, from.1), (target, to.1), bytes))
    }

    /// Reads a range of a buffer into a shared buffer.
    fn read_range(
        &self,
        stream: &Stream,
        buffer: &MetalBuffer,
        range: Aligned,
    ) -> Result<Retained<MetalBuffer>> {
        let staging = self.buffer(range.bytes, MTLResourceOptions::StorageModeShared)?;
        let commands = stream.commands()?;
        encode_copy(&commands, (buffer, range.start), (&staging, 0), range.bytes)?;
        stream.finish(&commands)?;
        Ok(staging)
    }

    fn buffer(&self, bytes: usize, options: MTLResourceOptions) -> Result<Retained<MetalBuffer>> {
        let rounded = bytes.max(1).checked_next_multiple_of(UNIT);
        let fitting = rounded.filter(|bytes| *bytes <= self.metal.maxBufferLength());
        match fitting.and_then(|bytes| self.metal.newBufferWithLength_options(bytes, options)) {
            Some(buffer) => Ok(buffer),
            None => plain_bail!(MEMORY_ERROR, "The Metal device has no {} bytes", bytes),
        }
    }
}

impl DeviceMemory for Device {
    const NAME: &'static str = "Metal";

    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        Device::allocate(self, bytes)
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { Device::free(self, memory) };
    }
}

/// Queues a copy between two buffers, each with a byte offset.
fn blit(
    stream: &Stream,
    from: (&MetalBuffer, usize),
    to: (&MetalBuffer, usize),
    bytes: usize,
) -> Result<()> {
    let commands = stream.commands()?;
    encode_copy(&commands, from, to, bytes)?;
    stream.commit(&commands);
    Ok(())
}

fn encode_copy(
    commands: &ProtocolObject<dyn MTLCommandBuffer>,
    from: (&MetalBuffer, usize),
    to: (&MetalBuffer, usize),
    bytes: usize,
) -> Result<()> {
    let Some(encoder) = commands.blitCommandEncoder() else {
        return Err(failure::missing("command encoder"));
    };
    let (source, target) = (from.0.length(), to.0.length());
    let fits = |offset: usize, length| offset.checked_add(bytes).is_some_and(|end| end <= length);
    let is_within = fits(from.1, source) && fits(to.1, target);
    if is_within {
        // SAFETY: both ranges are within their buffers.
        unsafe {
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                from.0, from.1, to.0, to.1, bytes,
            );
        }
    }
    encoder.endEncoding();
    if !is_within {
        plain_bail!(VALUE_ERROR, "A copy of {} bytes reaches beyond its buffers", bytes);
    }
    Ok(())
}
