//! Vulkan buffers and copies.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ash::vk;
use ferrite_alloc_ext::device::Region;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_bail, plain_ensure};

use super::device::Device;
use super::failure::{self, Outcome, is_out_of_memory, raise};
use super::heap::Part;
use super::platform;
use super::queue::STAGING_BYTES;
use crate::owned::Owned;
use crate::workspace::DeviceMemory;

/// Usage of tensor buffers.
pub(super) const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// Alignment of ranges in staging memory.
const STAGING_ALIGNMENT: usize = 16;

/// Memory record, to which the `data` pointer of a tensor points. Its first three fields match
/// those of TVM's runtime.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Memory {
    pub(super) device: vk::Device,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// Size of the tensor in bytes, rounded up to words.
    pub(super) bytes: u64,
    /// Size of the buffer in bytes.
    capacity: u64,
    part: Part,
    /// Next buffer in the [`Discarded`] list.
    next: Option<NonNull<Memory>>,
    /// Last batch that uses this buffer, once it is in the [`Discarded`] list.
    last_batch: u64,
}

/// Buffers to destroy when a batch is done, ordered by batch.
pub(super) struct Discarded {
    first: Option<NonNull<Memory>>,
    last: Option<NonNull<Memory>>,
}

impl Discarded {
    pub(super) const fn new() -> Discarded {
        Discarded { first: None, last: None }
    }

    /// Appends a buffer, to be destroyed when the batch `last_batch` is done.
    pub(super) fn push(&mut self, memory: Owned<Memory>, last_batch: u64) {
        let memory = memory.into_raw();
        // SAFETY: the list owns its records.
        unsafe {
            ((*memory.as_ptr()).next, (*memory.as_ptr()).last_batch) = (None, last_batch);
            match self.last.replace(memory) {
                Some(last) => (*last.as_ptr()).next = Some(memory),
                None => self.first = Some(memory),
            }
        }
    }

    /// Returns the batch after which the first buffer can be destroyed.
    pub(super) fn first_number(&self) -> Option<u64> {
        // SAFETY: as in `push`.
        self.first.map(|first| unsafe { first.as_ref().last_batch })
    }

    /// Removes the first buffer.
    pub(super) fn pop(&mut self) -> Option<Owned<Memory>> {
        let first = self.first?;
        // SAFETY: as in `push`, which transferred the ownership to the list.
        unsafe {
            self.first = first.as_ref().next;
            if self.first.is_none() {
                self.last = None;
            }
            Some(Owned::from_raw(first))
        }
    }
}

impl Memory {
    /// Destroys the buffer, which no batch may use any more.
    pub(super) fn destroy(&self, device: &Device) {
        device.destroy_buffer(self.buffer);
        device.heap().free(device, self.part);
    }
}

/// Allocates a buffer and its record, or reuses a buffer that was freed. A size of zero gets a
/// buffer, too. If the device is out of memory, gives unused memory back and tries again.
///
/// # Errors
/// MemoryError if the device is out of memory; errors of the driver.
pub(super) fn allocate(device: &Device, bytes: usize) -> Result<NonNull<c_void>> {
    let size = size_of_buffer(bytes);
    if let Some(size) = size
        && let Some(reused) = device.unused.take(size)
    {
        // SAFETY: the record was in the list, so nobody else uses it.
        unsafe { reused.cast::<Memory>().as_mut() }.bytes = size;
        return Ok(reused);
    }
    let outcome = match try_allocate(device, size) {
        Err(code) if is_out_of_memory(code) => {
            trim(device)?;
            try_allocate(device, size)
        }
        outcome => outcome,
    };
    match outcome {
        Ok(memory) => Owned::new(memory)
            .map(|record| record.into_raw().cast())
            .inspect_err(|_| memory.destroy(device)),
        Err(code) if is_out_of_memory(code) => {
            plain_bail!(
                MEMORY_ERROR,
                "The Vulkan device has no {} bytes: {}",
                bytes,
                failure::name(code)
            )
        }
        Err(code) => Err(failure::error(code)),
    }
}

/// Returns the size of a tensor's buffer: whole words, which shaders access. Returns `None` if it
/// overflows.
fn size_of_buffer(bytes: usize) -> Option<u64> {
    (bytes as u64).max(1).checked_next_multiple_of(4)
}

fn try_allocate(device: &Device, size: Option<u64>) -> Outcome<Memory> {
    let size = size.filter(|size| *size <= device.adapter.heap_bytes());
    let size = size.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
    let buffer = device.create_buffer(size, USAGE)?;
    let needs = device.needs_of(buffer);
    let part = device.heap().allocate(device, &needs);
    let bound = part.and_then(|part| match device.bind(buffer, part.memory, part.offset) {
        Ok(()) => Ok(part),
        Err(code) => {
            device.heap().free(device, part);
            Err(code)
        }
    });
    match bound {
        Ok(part) => Ok(Memory {
            device: device.handle,
            buffer,
            memory: part.memory,
            bytes: size,
            capacity: size,
            part,
            next: None,
            last_batch: 0,
        }),
        Err(code) => {
            device.destroy_buffer(buffer);
            Err(code)
        }
    }
}

/// Frees memory from [`allocate`], which is kept for reuse. Queued commands may still use it.
///
/// # Safety
/// `data` must come from `allocate` for this device, and must not be used afterwards.
pub(super) unsafe fn free(device: &Device, data: NonNull<c_void>) {
    // SAFETY: the caller guarantees the record.
    let capacity = unsafe { data.cast::<Memory>().as_ref() }.capacity;
    // SAFETY: the caller's promise, for this memory and for that in the list.
    device.unused.put(data, capacity, |data| unsafe { discard(device, data) });
}

/// Gives memory that is kept for reuse back to the driver, after the commands that use it.
///
/// # Errors
/// Errors of the driver.
pub(super) fn trim(device: &Device) -> Result<()> {
    // SAFETY: the list owns its memory.
    device.unused.clear(|data| unsafe { discard(device, data) });
    raise(device.finish())?;
    device.heap().trim(device);
    Ok(())
}

/// Destroys a buffer and its record after the commands that use it.
///
/// # Safety
/// `data` must come from [`allocate`] for this device, and must not be used afterwards.
unsafe fn discard(device: &Device, data: NonNull<c_void>) {
    // SAFETY: the caller's promise.
    let memory = unsafe { Owned::<Memory>::from_raw(data.cast()) };
    device.queue().discard(device, memory);
}

impl DeviceMemory for Device {
    const NAME: &'static str = "Vulkan";

    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        allocate(self, bytes)
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { free(self, memory) };
    }
}

/// A range of a buffer on a device.
#[derive(Clone, Copy)]
struct BufferRange {
    device: &'static Device,
    buffer: vk::Buffer,
    offset: u64,
}

/// Returns the buffer range of a region; `None` if the region is in main memory.
///
/// # Safety
/// The `data` of a region on a device must be a record from [`allocate`].
unsafe fn buffer_range(region: &Region, bytes: usize) -> Result<Option<BufferRange>> {
    if region.device.device_type != kind::VULKAN {
        return Ok(None);
    }
    let device = platform::device(region.device.device_id)?;
    // SAFETY: the caller guarantees the record.
    let Some(memory) = (unsafe { region.data.cast::<Memory>().as_ref() }) else {
        plain_bail!(VALUE_ERROR, "A copy needs memory of the device, not null");
    };
    plain_ensure!(
        memory.device == device.handle,
        VALUE_ERROR,
        "The memory of a copy is not of the Vulkan device {}",
        region.device.device_id
    );
    let end = region.offset.checked_add(bytes).map(|end| end as u64);
    plain_ensure!(
        end.is_some_and(|end| end <= memory.bytes),
        VALUE_ERROR,
        "A copy of {} bytes at {} is beyond the memory, which has {}",
        bytes,
        region.offset,
        memory.bytes as usize
    );
    Ok(Some(BufferRange { device, buffer: memory.buffer, offset: region.offset as u64 }))
}

/// Copies bytes. On return, main memory may be reused, and copies to it are complete.
///
/// # Errors
/// ValueError for a region beyond its buffer; InternalError if neither region is on a device;
/// errors of the driver; MemoryError for a copy between two devices or within a buffer, which goes
/// through main memory.
///
/// # Safety
/// Both regions must have `bytes` bytes; those on a device must come from [`allocate`].
pub(super) unsafe fn copy(from: Region, to: Region, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller guarantees the regions.
    unsafe {
        match (buffer_range(&from, bytes)?, buffer_range(&to, bytes)?) {
            (None, None) => {
                plain_bail!(INTERNAL_ERROR, "A copy of Vulkan needs memory of its devices")
            }
            (Some(source), None) => raise(read(source, to.data.byte_add(to.offset).cast(), bytes)),
            (None, Some(target)) => {
                raise(write(from.data.byte_add(from.offset).cast(), target, bytes))
            }
            (Some(source), Some(target))
                if ptr::eq(source.device, target.device) && source.buffer != target.buffer =>
            {
                let (from, to) = ((source.buffer, source.offset), (target.buffer, target.offset));
                let copied = source.device.queue().copy(source.device, from, to, bytes, false);
                raise(copied)
            }
            (Some(source), Some(target)) => {
                let mut between = Buffer::new();
                between.try_resize(bytes, 0u8)?;
                let data = between.as_mut_slice().as_mut_ptr();
                raise(read(source, data, bytes).and_then(|()| write(data, target, bytes)))
            }
        }
    }
}

/// Copies from main memory to a buffer. Main memory may be reused on return.
///
/// # Safety
/// Both sides must have `bytes` bytes.
unsafe fn write(from: *const u8, to: BufferRange, bytes: usize) -> Outcome<()> {
    for at in (0..bytes).step_by(STAGING_BYTES) {
        let piece = STAGING_BYTES.min(bytes - at);
        let mut queue = to.device.queue();
        let staged = queue.stage(to.device, piece, STAGING_ALIGNMENT)?;
        // SAFETY: the caller guarantees the source; the staging memory is reserved for this copy.
        unsafe { from.add(at).copy_to_nonoverlapping(staged.data.as_ptr(), piece) };
        let target = (to.buffer, to.offset + at as u64);
        queue.copy(to.device, (staged.buffer, staged.offset), target, piece, false)?;
    }
    Ok(())
}

/// Copies from a buffer to main memory, and waits for the copy.
///
/// # Safety
/// Both sides must have `bytes` bytes.
unsafe fn read(from: BufferRange, to: *mut u8, bytes: usize) -> Outcome<()> {
    let device = from.device;
    for at in (0..bytes).step_by(STAGING_BYTES) {
        let piece = STAGING_BYTES.min(bytes - at);
        let (staged, wait) = {
            let mut queue = device.queue();
            let staged = queue.stage(device, piece, STAGING_ALIGNMENT)?;
            let source = (from.buffer, from.offset + at as u64);
            queue.copy(device, source, (staged.buffer, staged.offset), piece, true)?;
            (staged, queue.begin_wait(device, u64::MAX)?)
        };
        device.end_wait(wait, || {
            // SAFETY: the caller guarantees the target; the copy is complete, and the staging
            // memory stays reserved.
            unsafe { staged.data.as_ptr().copy_to_nonoverlapping(to.add(at), piece) };
        })?;
    }
    Ok(())
}
