//! Queue of a Vulkan device: commands are recorded in batches, which are submitted one after
//! another.
//!
//! Submitting a batch costs the driver as much as about twenty commands. So a batch is submitted
//! when it has enough commands, and before any thread waits. The first batch after a wait is small,
//! so that the device starts early; each further batch is twice as large.
//!
//! All threads record into the same batch, under the queue's lock. So commands run in the order in
//! which they are queued, from whatever thread. A barrier follows each command.
//!
//! | A batch is | |
//! |---|---|
//! | open | while commands are recorded; at most one |
//! | in flight | from its submission until its fence is signalled |
//! | done | afterwards; its slot is reused by the batch whose number is larger by [`BATCHES`] |
//!
//! Batches are numbered from 1. [`Queue::is_done`] tells whether a number is done.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

use super::device::Device;
use super::failure::{Outcome, check};
use super::memory::{Discarded, Memory};
use crate::owned::Owned;

/// Number of batch slots: at most one batch is open, the others are in flight or done.
pub(super) const BATCHES: usize = 8;
/// Number of commands in the first batch after a wait.
const SMALLEST_BATCH: u32 = 8;
/// Maximum number of commands in a batch.
const LARGEST_BATCH: u32 = 64;
/// Size of a batch's staging memory in bytes, for copies and scalars.
pub(super) const STAGING_BYTES: usize = 1 << 20;

/// Usage of staging buffers.
pub(super) const STAGING_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw(),
);

/// The queue of a device, protected by one lock.
pub(super) struct Queue {
    handle: vk::Queue,
    slots: [Batch; BATCHES],
    is_open: bool,
    /// Number of the open batch, or of the next batch to be opened.
    next: u64,
    /// Largest number up to which all batches are done.
    done: u64,
    /// Number of commands at which the open batch is submitted.
    limit: u32,
    /// Whether the device was lost. Nothing can be queued any more, and no resource is in use.
    is_lost: bool,
    /// Failure that was not reported yet.
    unreported: Option<vk::Result>,
    discarded: Discarded,
}

// SAFETY: the pointers are to mapped memory, which the queue's lock guards.
unsafe impl Send for Queue {}

/// A batch slot with its resources, which are created on first use and reused.
#[derive(Default)]
pub(super) struct Batch {
    pool: vk::CommandPool,
    pub(super) commands: vk::CommandBuffer,
    fence: vk::Fence,
    staging: Option<Staging>,
    /// Number of the slot's current batch.
    pub(super) number: u64,
    /// Bytes of staging memory that are in use.
    staged: usize,
    count: u32,
    /// Pipeline that was bound last.
    pub(super) bound: vk::Pipeline,
}

/// Staging memory, accessible to the host and the device.
#[derive(Clone, Copy)]
struct Staging {
    buffer: vk::Buffer,
    data: NonNull<u8>,
}

/// A range of staging memory.
pub(super) struct Staged {
    pub(super) buffer: vk::Buffer,
    pub(super) offset: u64,
    pub(super) data: NonNull<u8>,
}

/// Number of readers of each batch slot. A slot is not reused while it has readers.
#[derive(Default)]
pub(super) struct Pins([AtomicU32; BATCHES]);

/// A pending wait for a batch.
pub(super) struct Wait<'a> {
    number: u64,
    /// `None` if the batch is already done.
    fence: Option<vk::Fence>,
    pinned: Pinned<'a>,
}

/// Guard of a batch slot, which is not reused while the guard exists.
struct Pinned<'a>(&'a AtomicU32);

impl Pins {
    fn pin(&self, number: u64) -> Pinned<'_> {
        let pin = &self.0[slot_of(number)];
        pin.fetch_add(1, Ordering::Relaxed);
        Pinned(pin)
    }

    /// Waits until a slot has no readers. Its batch is done, so the readers themselves wait for
    /// nothing.
    fn wait(&self, number: u64) {
        while self.0[slot_of(number)].load(Ordering::Acquire) != 0 {
            std::thread::yield_now();
        }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

fn slot_of(number: u64) -> usize {
    (number % BATCHES as u64) as usize
}

impl Queue {
    pub(super) fn new(handle: vk::Queue) -> Queue {
        Queue {
            handle,
            slots: Default::default(),
            is_open: false,
            next: 1,
            done: 0,
            limit: SMALLEST_BATCH,
            is_lost: false,
            unreported: None,
            discarded: Discarded::new(),
        }
    }

    /// Returns the number of the last batch that has commands.
    #[inline]
    pub(super) fn last(&self) -> u64 {
        if self.is_open { self.next } else { self.next - 1 }
    }

    /// Returns `true` if no command of this batch or of earlier ones uses any resource any more.
    #[inline]
    pub(super) fn is_done(&self, number: u64) -> bool {
        // A batch whose submission failed keeps the next number, but has nothing in flight.
        number <= self.done || self.is_lost || (number > self.last() && self.done == self.last())
    }

    /// Returns the open batch. Opens one if necessary.
    #[inline]
    pub(super) fn batch(&mut self, device: &Device) -> Outcome<&mut Batch> {
        if !self.is_open {
            self.open(device)?;
        }
        Ok(&mut self.slots[slot_of(self.next)])
    }

    /// Returns an error if the device was lost.
    fn check_loss(&self) -> Outcome<()> {
        if self.is_lost { Err(vk::Result::ERROR_DEVICE_LOST) } else { Ok(()) }
    }

    fn open(&mut self, device: &Device) -> Outcome<()> {
        self.check_loss()?;
        if let Some(earlier) = self.next.checked_sub(BATCHES as u64)
            && earlier > self.done
        {
            let waited = device.wait_for_fence(self.slots[slot_of(earlier)].fence);
            self.note(device, earlier, waited)?;
        }
        device.pins.wait(self.next);
        self.slots[slot_of(self.next)].begin(device, self.next)?;
        self.is_open = true;
        Ok(())
    }

    /// Ends a command with a barrier. Submits the batch when it is large enough.
    #[inline]
    pub(super) fn end_command(&mut self, device: &Device, is_for_host: bool) -> Outcome<()> {
        let batch = &mut self.slots[slot_of(self.next)];
        batch.barrier(device, is_for_host);
        batch.count += 1;
        if batch.count >= self.limit { self.submit(device) } else { Ok(()) }
    }

    /// Submits the open batch. If submission fails, its commands are lost.
    pub(super) fn submit(&mut self, device: &Device) -> Outcome<()> {
        if !core::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let batch = &self.slots[slot_of(self.next)];
        let commands = [batch.commands];
        let submission = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: the batch is recorded, its fence is not in use, and the queue's lock is held.
        let submitted = unsafe {
            check((device.api.vkEndCommandBuffer)(batch.commands))
                .and_then(|()| check((device.api.vkResetFences)(device.handle, 1, &batch.fence)))
                .and_then(|()| {
                    check((device.api.vkQueueSubmit)(self.handle, 1, &submission, batch.fence))
                })
        };
        if let Err(code) = submitted {
            self.note_loss(device, code);
            return Err(code);
        }
        self.next += 1;
        self.limit = (self.limit * 2).min(LARGEST_BATCH);
        self.advance(device);
        self.check_loss()
    }

    /// Submits queued commands and prepares a wait for batch `number`, or for the last batch if
    /// `number` is larger.
    pub(super) fn begin_wait<'a>(&mut self, device: &'a Device, number: u64) -> Outcome<Wait<'a>> {
        self.check_loss()?;
        if let Some(code) = self.unreported.take() {
            return Err(code);
        }
        if number >= self.next {
            self.submit(device)?;
        }
        let number = number.min(self.last());
        let fence = (!self.is_done(number)).then(|| self.slots[slot_of(number)].fence);
        Ok(Wait { number, fence, pinned: device.pins.pin(number) })
    }

    /// Polls the fences of batches in flight, and destroys discarded buffers that no batch uses any
    /// more.
    pub(super) fn advance(&mut self, device: &Device) {
        while self.done + 1 < self.next {
            let fence = self.slots[slot_of(self.done + 1)].fence;
            // SAFETY: the fence belongs to the device.
            match unsafe { (device.api.vkGetFenceStatus)(device.handle, fence) } {
                vk::Result::SUCCESS => self.done += 1,
                code => {
                    self.note_loss(device, code);
                    break;
                }
            }
        }
        self.collect(device);
    }

    /// Records the outcome of waiting for a batch, and returns it.
    fn note(&mut self, device: &Device, number: u64, waited: Outcome<()>) -> Outcome<()> {
        match waited {
            Ok(()) => self.done = self.done.max(number),
            Err(code) => self.note_loss(device, code),
        }
        self.collect(device);
        waited.and_then(|()| self.check_loss())
    }

    fn note_loss(&mut self, device: &Device, code: vk::Result) {
        if code == vk::Result::ERROR_DEVICE_LOST {
            (self.is_lost, self.is_open) = (true, false);
            self.collect(device);
        }
    }

    /// Destroys a buffer as soon as no command uses it.
    pub(super) fn discard(&mut self, device: &Device, memory: Owned<Memory>) {
        self.discarded.push(memory, self.last());
        self.advance(device);
    }

    fn collect(&mut self, device: &Device) {
        while let Some(number) = self.discarded.first_number()
            && self.is_done(number)
            && let Some(memory) = self.discarded.pop()
        {
            memory.destroy(device);
        }
    }

    /// Reserves `bytes` of staging memory, at most [`STAGING_BYTES`], in the open batch. Opens the
    /// next batch if the open one has too little left.
    pub(super) fn stage(
        &mut self,
        device: &Device,
        bytes: usize,
        alignment: usize,
    ) -> Outcome<Staged> {
        let batch = self.batch(device)?;
        if batch.staged.next_multiple_of(alignment) + bytes > STAGING_BYTES {
            self.submit(device)?;
        }
        self.batch(device)?.stage(device, bytes, alignment)
    }

    /// Queues a copy between buffers.
    pub(super) fn copy(
        &mut self,
        device: &Device,
        (from, from_offset): (vk::Buffer, u64),
        (to, to_offset): (vk::Buffer, u64),
        bytes: usize,
        is_for_host: bool,
    ) -> Outcome<()> {
        let region =
            vk::BufferCopy { src_offset: from_offset, dst_offset: to_offset, size: bytes as u64 };
        let batch = self.batch(device)?;
        // SAFETY: the batch is open; the caller guarantees the buffers.
        unsafe { (device.api.vkCmdCopyBuffer)(batch.commands, from, to, 1, &region) };
        self.end_command(device, is_for_host)
    }
}

impl Batch {
    /// Begins recording a batch in this slot.
    fn begin(&mut self, device: &Device, number: u64) -> Outcome<()> {
        self.complete(device)?;
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: no command of the pool is in flight, since the slot's previous batch is done.
        unsafe {
            check((device.api.vkResetCommandPool)(
                device.handle,
                self.pool,
                vk::CommandPoolResetFlags::empty(),
            ))?;
            check((device.api.vkBeginCommandBuffer)(self.commands, &begin))?;
        }
        (self.number, self.staged, self.count, self.bound) = (number, 0, 0, vk::Pipeline::null());
        Ok(())
    }

    /// Creates the resources that the slot does not have yet.
    fn complete(&mut self, device: &Device) -> Outcome<()> {
        let (api, handle) = (&device.api, device.handle);
        // SAFETY: the device is live and the records are initialised; the driver writes the
        // handles.
        unsafe {
            if self.pool == vk::CommandPool::null() {
                let wanted = vk::CommandPoolCreateInfo::default()
                    .flags(vk::CommandPoolCreateFlags::TRANSIENT)
                    .queue_family_index(device.adapter.family);
                let mut pool = vk::CommandPool::null();
                check((api.vkCreateCommandPool)(handle, &wanted, ptr::null(), &mut pool))?;
                self.pool = pool;
            }
            if self.commands == vk::CommandBuffer::null() {
                let wanted = vk::CommandBufferAllocateInfo::default()
                    .command_pool(self.pool)
                    .level(vk::CommandBufferLevel::PRIMARY)
                    .command_buffer_count(1);
                let mut commands = vk::CommandBuffer::null();
                check((api.vkAllocateCommandBuffers)(handle, &wanted, &mut commands))?;
                self.commands = commands;
            }
            if self.fence == vk::Fence::null() {
                let mut fence = vk::Fence::null();
                let wanted = vk::FenceCreateInfo::default();
                check((api.vkCreateFence)(handle, &wanted, ptr::null(), &mut fence))?;
                self.fence = fence;
            }
        }
        Ok(())
    }

    fn stage(&mut self, device: &Device, bytes: usize, alignment: usize) -> Outcome<Staged> {
        let staging = match self.staging {
            Some(staging) => staging,
            None => *self.staging.insert(Staging::new(device)?),
        };
        let start = self.staged.next_multiple_of(alignment);
        self.staged = start + bytes;
        // SAFETY: the caller stays within the staging memory.
        let data = unsafe { staging.data.add(start) };
        Ok(Staged { buffer: staging.buffer, offset: start as u64, data })
    }

    /// Records a barrier: later commands wait for all earlier ones. With `is_for_host`, their
    /// writes also become visible to the host.
    fn barrier(&self, device: &Device, is_for_host: bool) {
        use vk::{AccessFlags as Access, PipelineStageFlags as Stages};
        let both = Stages::COMPUTE_SHADER | Stages::TRANSFER;
        let (mut stages, mut access) = (
            both,
            Access::SHADER_READ
                | Access::SHADER_WRITE
                | Access::TRANSFER_READ
                | Access::TRANSFER_WRITE,
        );
        if is_for_host {
            stages |= Stages::HOST;
            access |= Access::HOST_READ;
        }
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(Access::SHADER_WRITE | Access::TRANSFER_WRITE)
            .dst_access_mask(access);
        // SAFETY: the batch is open.
        unsafe {
            (device.api.vkCmdPipelineBarrier)(
                self.commands,
                both,
                stages,
                vk::DependencyFlags::empty(),
                1,
                &barrier,
                0,
                ptr::null(),
                0,
                ptr::null(),
            );
        }
    }
}

impl Staging {
    fn new(device: &Device) -> Outcome<Staging> {
        let buffer = device.create_buffer(STAGING_BYTES as u64, STAGING_USAGE)?;
        let needs = device.needs_of(buffer);
        let memory = match device.allocate_memory(needs.size, device.staging_type) {
            Ok(memory) => memory,
            Err(code) => {
                device.destroy_buffer(buffer);
                return Err(code);
            }
        };
        let mut data = ptr::null_mut();
        let flags = vk::MemoryMapFlags::empty();
        let mapped = device.bind(buffer, memory, 0).and_then(|()| {
            // SAFETY: the memory is not mapped yet; the driver writes the address.
            check(unsafe {
                (device.api.vkMapMemory)(device.handle, memory, 0, vk::WHOLE_SIZE, flags, &mut data)
            })
        });
        match (mapped, NonNull::new(data.cast())) {
            (Ok(()), Some(data)) => Ok(Staging { buffer, data }),
            (outcome, _) => {
                device.destroy_buffer(buffer);
                device.free_memory(memory);
                Err(outcome.err().unwrap_or(vk::Result::ERROR_MEMORY_MAP_FAILED))
            }
        }
    }
}

impl Device {
    fn wait_for_fence(&self, fence: vk::Fence) -> Outcome<()> {
        // SAFETY: the fence is the device's, and is in flight or signalled.
        match unsafe { (self.api.vkWaitForFences)(self.handle, 1, &fence, vk::TRUE, u64::MAX) } {
            // The timeout is five hundred years.
            vk::Result::TIMEOUT => Err(vk::Result::TIMEOUT),
            code => check(code),
        }
    }

    /// Waits for a batch without holding the queue lock. If the wait succeeds, runs `then` before
    /// the batch's slot can be reused.
    pub(super) fn end_wait(&self, wait: Wait<'_>, then: impl FnOnce()) -> Outcome<()> {
        let waited = wait.fence.map_or(Ok(()), |fence| self.wait_for_fence(fence));
        if waited.is_ok() {
            then();
        }
        // Dropped before the lock is taken, since the thread that holds it may be waiting for the
        // slot.
        drop(wait.pinned);
        let mut queue = self.queue();
        queue.limit = SMALLEST_BATCH;
        queue.note(self, wait.number, waited)
    }

    /// Waits until a batch and all earlier ones are done.
    pub(super) fn wait_for(&self, number: u64) -> Outcome<()> {
        let wait = self.queue().begin_wait(self, number)?;
        self.end_wait(wait, || ())
    }

    /// Waits until a batch is done, for callers that cannot report a failure: the next thread that
    /// waits reports it. Returns `true` if resources of the batch may be destroyed.
    pub(super) fn settle(&self, number: u64) -> bool {
        if let Err(code) = self.wait_for(number) {
            // The open batch is lost; those in flight must still be waited for.
            let _ = self.wait_for(number);
            self.queue().unreported = Some(code);
        }
        let queue = self.queue();
        queue.is_done(number.min(queue.last()))
    }

    /// Waits until all queued commands are complete.
    pub(super) fn finish(&self) -> Outcome<()> {
        self.wait_for(u64::MAX)
    }
}
