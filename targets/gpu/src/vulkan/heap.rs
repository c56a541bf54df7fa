//! Allocator of device memory for buffers.
//!
//! Some drivers allow only 4096 allocations at a time (`maxMemoryAllocationCount`), and each
//! allocation takes time. So buffers share blocks, and each new block is twice as large as the
//! previous one. Only large buffers have a separate allocation.

use core::ptr;

use ash::vk;
use ferrite_core::platform::memory::Buffer;

use super::device::Device;
use super::failure::{Outcome, check, is_out_of_memory};
use super::spans::Spans;

/// Size of the first block in bytes. Each further block is twice as large.
const SMALLEST_BLOCK: u64 = 1 << 20;
/// Maximum size of a block in bytes.
const LARGEST_BLOCK: u64 = 64 << 20;
/// Buffers larger than this number of bytes have a separate allocation.
const LARGEST_SHARED: u64 = LARGEST_BLOCK / 2;

/// Memory blocks of a device.
pub(super) struct Heap {
    blocks: Buffer<Block>,
}

struct Block {
    memory: vk::DeviceMemory,
    spans: Spans,
}

/// A range of device memory that a buffer occupies.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) memory: vk::DeviceMemory,
    pub(super) offset: u64,
    bytes: u64,
    /// Whether the memory belongs to a block.
    is_shared: bool,
}

impl Heap {
    pub(super) const fn new() -> Heap {
        Heap { blocks: Buffer::new() }
    }

    /// Allocates memory for a buffer.
    pub(super) fn allocate(
        &mut self,
        device: &Device,
        needs: &vk::MemoryRequirements,
    ) -> Outcome<Part> {
        if needs.size > LARGEST_SHARED {
            return own(device, needs.size);
        }
        for block in self.blocks.as_mut_slice() {
            if let Some(part) = block.part(needs) {
                return Ok(part);
            }
        }
        match self.add_block(device, needs.size) {
            Ok(block) => block.part(needs).ok_or(vk::Result::ERROR_OUT_OF_HOST_MEMORY),
            // The device may still have less memory than a block.
            Err(code) if is_out_of_memory(code) => own(device, needs.size),
            Err(code) => Err(code),
        }
    }

    fn add_block(&mut self, device: &Device, least: u64) -> Outcome<&mut Block> {
        let doublings = self.blocks.len().min(6);
        let bytes = (SMALLEST_BLOCK << doublings).max(least.next_power_of_two());
        const NO_MEMORY: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        self.blocks.reserve_silently(1).map_err(|_| NO_MEMORY)?;
        let spans = Spans::new(bytes).ok_or(NO_MEMORY)?;
        let memory = device.allocate_memory(bytes, device.memory_type)?;
        // The capacity was reserved before.
        self.blocks.try_push(Block { memory, spans }).map_err(|_| NO_MEMORY)?;
        self.blocks.as_mut_slice().last_mut().ok_or(NO_MEMORY)
    }

    /// Frees memory from [`allocate`](Self::allocate). A block that becomes unused is freed unless
    /// it is the only unused one.
    pub(super) fn free(&mut self, device: &Device, part: Part) {
        if !part.is_shared {
            device.free_memory(part.memory);
            return;
        }
        let Some(index) = self.blocks.iter().position(|block| block.memory == part.memory) else {
            return;
        };
        self.blocks.as_mut_slice()[index].spans.release(part.offset, part.bytes);
        let unused = self.blocks.iter().filter(|block| block.spans.is_unused()).count();
        if unused > 1
            && self.blocks[index].spans.is_unused()
            && let Some(block) = self.blocks.remove(index)
        {
            device.free_memory(block.memory);
        }
    }

    /// Frees all unused blocks.
    pub(super) fn trim(&mut self, device: &Device) {
        let mut index = 0;
        while let Some(block) = self.blocks.get(index) {
            if block.spans.is_unused() {
                device.free_memory(block.memory);
                self.blocks.remove(index);
            } else {
                index += 1;
            }
        }
    }
}

impl Block {
    fn part(&mut self, needs: &vk::MemoryRequirements) -> Option<Part> {
        let offset = self.spans.allocate(needs.size, needs.alignment)?;
        Some(Part { memory: self.memory, offset, bytes: needs.size, is_shared: true })
    }
}

fn own(device: &Device, bytes: u64) -> Outcome<Part> {
    let memory = device.allocate_memory(bytes, device.memory_type)?;
    Ok(Part { memory, offset: 0, bytes, is_shared: false })
}

impl Device {
    /// Allocates `bytes` bytes of a memory type.
    pub(super) fn allocate_memory(
        &self,
        bytes: u64,
        memory_type: u32,
    ) -> Outcome<vk::DeviceMemory> {
        let wanted =
            vk::MemoryAllocateInfo::default().allocation_size(bytes).memory_type_index(memory_type);
        let mut memory = vk::DeviceMemory::null();
        // SAFETY: the device is live and has this memory type; the driver writes the handle.
        check(unsafe {
            (self.api.vkAllocateMemory)(self.handle, &wanted, ptr::null(), &mut memory)
        })?;
        Ok(memory)
    }

    /// Frees memory that no buffer uses.
    pub(super) fn free_memory(&self, memory: vk::DeviceMemory) {
        // SAFETY: the memory belongs to this device, and its buffers are destroyed.
        unsafe { (self.api.vkFreeMemory)(self.handle, memory, ptr::null()) };
    }

    /// Creates a buffer without memory.
    pub(super) fn create_buffer(
        &self,
        bytes: u64,
        usage: vk::BufferUsageFlags,
    ) -> Outcome<vk::Buffer> {
        let wanted = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        let mut buffer = vk::Buffer::null();
        // SAFETY: the device is live; the driver writes the handle.
        check(unsafe {
            (self.api.vkCreateBuffer)(self.handle, &wanted, ptr::null(), &mut buffer)
        })?;
        Ok(buffer)
    }

    /// Destroys a buffer that no command uses.
    pub(super) fn destroy_buffer(&self, buffer: vk::Buffer) {
        // SAFETY: the buffer belongs to this device.
        unsafe { (self.api.vkDestroyBuffer)(self.handle, buffer, ptr::null()) };
    }

    /// Returns the memory requirements of a buffer.
    pub(super) fn needs_of(&self, buffer: vk::Buffer) -> vk::MemoryRequirements {
        let mut needs = vk::MemoryRequirements::default();
        // SAFETY: the buffer is live; the driver fills the record.
        unsafe { (self.api.vkGetBufferMemoryRequirements)(self.handle, buffer, &mut needs) };
        needs
    }

    /// Binds a buffer to a range of memory.
    pub(super) fn bind(
        &self,
        buffer: vk::Buffer,
        memory: vk::DeviceMemory,
        offset: u64,
    ) -> Outcome<()> {
        // SAFETY: both are live, and the memory meets the buffer's requirements.
        check(unsafe { (self.api.vkBindBufferMemory)(self.handle, buffer, memory, offset) })
    }
}
