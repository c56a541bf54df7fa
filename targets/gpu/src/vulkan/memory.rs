//! Buffers of a device, and copies.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ash::vk;
use ferrite_alloc_ext::device::Region;
use ferrite_core::device::kind;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure};

use super::device::Device;
use super::failure::{self, Outcome, is_out_of_memory, raise};
use super::heap::Part;
use super::platform;
use super::queue::STAGING_BYTES;
use crate::owned::Owned;
use crate::workspace::DeviceMemory;

/// The usage of the buffers of tensors.
pub(super) const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// Staging memory begins at multiples of this.
const STAGING_ALIGNMENT: usize = 16;

/// The record that `data` of a tensor points to. Its first three fields are those that TVM's runtime has.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Memory {
    pub(super) device: vk::Device,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// Bytes of the buffer.
    pub(super) bytes: u64,
    part: Part,
    /// The next buffer of [`Discarded`], and the last batch that uses this one.
    next: Option<NonNull<Memory>>,
    last_batch: u64,
}

/// Buffers to be destroyed when a batch is done, in the order of the batches.
pub(super) struct Discarded {
    first: Option<NonNull<Memory>>,
    last: Option<NonNull<Memory>>,
}

impl Discarded {
    pub(super) const fn new() -> Discarded {
        Discarded { first: None, last: None }
    }

    /// Appends a buffer that batches up to this number use.
    pub(super) fn push(&mut self, memory: Owned<Memory>, last_batch: u64) {
        let memory = memory.into_raw();
        // SAFETY: the records of the list are ours alone.
        unsafe {
            ((*memory.as_ptr()).next, (*memory.as_ptr()).last_batch) = (None, last_batch);
            match self.last.replace(memory) {
                Some(last) => (*last.as_ptr()).next = Some(memory),
                None => self.first = Some(memory),
            }
        }
    }

    /// The number of the first buffer.
    pub(super) fn first_number(&self) -> Option<u64> {
        // SAFETY: as in `push`.
        self.first.map(|first| unsafe { first.as_ref().last_batch })
    }

    /// Takes out the first buffer.
    pub(super) fn pop(&mut self) -> Option<Owned<Memory>> {
        let first = self.first?;
        // SAFETY: as in `push`, which gave up the ownership.
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
    /// Destroys the buffer, which no command uses any more.
    pub(super) fn destroy(&self, device: &Device) {
        device.destroy_buffer(self.buffer);
        device.heap().free(device, self.part);
    }
}

/// Allocates memory and its record. Zero bytes get a buffer, too.
///
/// # Errors
/// MemoryError when the device has no such memory; errors of the driver.
pub(super) fn allocate(device: &Device, bytes: usize) -> Result<NonNull<c_void>> {
    let outcome = match try_allocate(device, bytes) {
        // What was freed may still be in use: it is there when that is over.
        Err(code) if is_out_of_memory(code) => {
            raise(device.finish())?;
            device.heap().trim(device);
            try_allocate(device, bytes)
        }
        outcome => outcome,
    };
    match outcome {
        Ok(memory) => {
            Owned::new(memory).map(|record| record.into_raw().cast()).inspect_err(|_| memory.destroy(device))
        }
        Err(code) if is_out_of_memory(code) => {
            plain_bail!(MEMORY_ERROR, "The Vulkan device has no {} bytes: {}", bytes, failure::name(code))
        }
        Err(code) => Err(failure::error(code)),
    }
}

fn try_allocate(device: &Device, bytes: usize) -> Outcome<Memory> {
    // Whole words, since shaders read words.
    let size = (bytes as u64).max(1).checked_next_multiple_of(4);
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

/// Frees memory of [`allocate`]. Commands that are queued may still use it.
///
/// # Safety
/// `data` must come from `allocate` for this device, and not be used afterwards.
pub(super) unsafe fn free(device: &Device, data: NonNull<c_void>) {
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

/// A part of a buffer of a device.
#[derive(Clone, Copy)]
struct Place {
    device: &'static Device,
    buffer: vk::Buffer,
    offset: u64,
}

/// The part of a buffer that a region is; None in main memory.
///
/// # Safety
/// `data` of a region on a device must be a record of [`allocate`].
unsafe fn place(region: &Region, bytes: usize) -> Result<Option<Place>> {
    if region.device.device_type != kind::VULKAN {
        return Ok(None);
    }
    let device = platform::device(region.device.device_id)?;
    // SAFETY: the caller vouches for the record.
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
    Ok(Some(Place { device, buffer: memory.buffer, offset: region.offset as u64 }))
}

/// Copies bytes. Main memory may be used anew when this returns; copies to it are over then.
///
/// # Errors
/// ValueError for a region beyond its memory; errors of the driver; MemoryError for a copy between two devices or within a
/// buffer, which goes through main memory.
///
/// # Safety
/// Both regions must have so many bytes, and those on a device be of [`allocate`].
pub(super) unsafe fn copy(from: Region, to: Region, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller vouches for the regions.
    unsafe {
        match (place(&from, bytes)?, place(&to, bytes)?) {
            (None, None) => plain_bail!(INTERNAL_ERROR, "A copy of Vulkan needs memory of its devices"),
            (Some(source), None) => raise(read(source, to.data.byte_add(to.offset).cast(), bytes)),
            (None, Some(target)) => raise(write(from.data.byte_add(from.offset).cast(), target, bytes)),
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

/// # Safety
/// Both sides must have so many bytes.
unsafe fn write(from: *const u8, to: Place, bytes: usize) -> Outcome<()> {
    for at in (0..bytes).step_by(STAGING_BYTES) {
        let piece = STAGING_BYTES.min(bytes - at);
        let mut queue = to.device.queue();
        let staged = queue.stage(to.device, piece, STAGING_ALIGNMENT)?;
        // SAFETY: the caller vouches for the source; the staging memory is reserved for this copy.
        unsafe { from.add(at).copy_to_nonoverlapping(staged.data.as_ptr(), piece) };
        let target = (to.buffer, to.offset + at as u64);
        queue.copy(to.device, (staged.buffer, staged.offset), target, piece, false)?;
    }
    Ok(())
}

/// # Safety
/// Both sides must have so many bytes.
unsafe fn read(from: Place, to: *mut u8, bytes: usize) -> Outcome<()> {
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
            // SAFETY: the caller vouches for the target; the copy is over, and the staging memory is kept meanwhile.
            unsafe { staged.data.as_ptr().copy_to_nonoverlapping(to.add(at), piece) };
        })?;
    }
    Ok(())
}
