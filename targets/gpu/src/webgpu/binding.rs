//! Kernel arguments for WebGPU: a bind group of buffers, one of which contains the scalars.
//!
//! Creating a bind group takes as long as a launch. So each kernel caches bind groups, keyed by
//! their buffers. A launch takes one, updates the arguments that differ, and puts it back once its
//! commands are queued: a later write to the scalar buffer takes effect later in the queue.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure};

use super::buffers;
use super::device::Device;
use crate::launch::{Launch, MAX_PARAMETERS, pack_slots_of_4};
use crate::owned::Owned;

/// Maximum number of cached bindings per kernel.
const SLOTS: usize = 16;

/// Maximum size of the scalars in bytes, including the number of blocks along x that follows them.
const MAX_SCALAR_BYTES: usize = (MAX_PARAMETERS + 1) * 4;

/// A bind group, with the arguments for which it was created or last updated.
pub(super) struct Binding {
    /// Values of all parameters; buffers come first.
    values: Buffer<u64>,
    blocks_along_x: u32,
    scalars: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// Layout of a kernel's arguments.
pub(super) struct Arguments {
    layout: wgpu::BindGroupLayout,
    /// For each buffer, whether the kernel writes it.
    is_written: Buffer<bool>,
    scalar_bytes: usize,
}

impl Arguments {
    /// Creates the layout for `scalar_count` scalars and these buffers, each with whether the
    /// kernel writes it.
    ///
    /// # Errors
    /// InternalError if the device does not support the layout.
    pub(super) fn new(
        device: &Device,
        is_written: &[bool],
        scalar_count: usize,
    ) -> Result<Arguments> {
        let mut written = Buffer::new();
        written.try_extend_from_slice(is_written)?;
        let mut entries = Buffer::try_with_capacity(is_written.len() + 1)?;
        for (index, is_written) in is_written.iter().enumerate() {
            let read_only = !is_written;
            entries.try_push(entry(index, wgpu::BufferBindingType::Storage { read_only }))?;
        }
        entries.try_push(entry(is_written.len(), wgpu::BufferBindingType::Uniform))?;
        let descriptor = wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries };
        let layout = device.reports.of(|| device.device.create_bind_group_layout(&descriptor))?;
        Ok(Arguments { layout, is_written: written, scalar_bytes: (scalar_count + 1) * 4 })
    }

    /// Returns wgpu's layout.
    pub(super) fn layout(&self) -> &wgpu::BindGroupLayout {
        &self.layout
    }

    /// Creates a binding for a launch.
    #[cold]
    fn bind(&self, device: &Device, launch: &Launch<'_>) -> Result<Binding> {
        let scalars = device.reports.of(|| {
            device.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: self.scalar_bytes.next_multiple_of(16) as u64,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })?;
        self.write_scalars(device, &scalars, launch)?;
        let group = self.group(device, &scalars, launch)?;
        let mut values = Buffer::new();
        values.try_extend_from_slice(launch.values)?;
        Ok(Binding { values, blocks_along_x: launch.sizes.grid()[0], scalars, group })
    }

    /// Updates a binding of an earlier launch to the arguments of this one.
    #[cold]
    fn change(&self, binding: &mut Binding, device: &Device, launch: &Launch<'_>) -> Result<()> {
        self.write_scalars(device, &binding.scalars, launch)?;
        let buffers = self.is_written.len();
        if binding.values[..buffers] != launch.values[..buffers] {
            binding.group = self.group(device, &binding.scalars, launch)?;
        }
        binding.values.as_mut_slice().copy_from_slice(launch.values);
        binding.blocks_along_x = launch.sizes.grid()[0];
        Ok(())
    }

    fn write_scalars(
        &self,
        device: &Device,
        buffer: &wgpu::Buffer,
        launch: &Launch<'_>,
    ) -> Result<()> {
        let mut bytes = [0; MAX_SCALAR_BYTES];
        // The array has capacity for the maximum number of parameters.
        let used = pack_slots_of_4(launch, &mut bytes)?.unwrap_or_default();
        bytes[used..used + 4].copy_from_slice(&launch.sizes.grid()[0].to_le_bytes());
        device.reports.of(|| device.queue.write_buffer(buffer, 0, &bytes[..used + 4]))
    }

    fn group(
        &self,
        device: &Device,
        scalars: &wgpu::Buffer,
        launch: &Launch<'_>,
    ) -> Result<wgpu::BindGroup> {
        let numbers = &launch.values[..self.is_written.len()];
        let mut bound = Buffer::try_with_capacity(numbers.len())?;
        for (index, number) in numbers.iter().enumerate() {
            self.check_alone(numbers, index)?;
            plain_ensure!(
                *number != 0,
                VALUE_ERROR,
                "Kernel argument #{} is null, not a WebGPU buffer",
                index
            );
            let memory = buffers::get(*number as usize)?;
            plain_ensure!(
                memory.device == device.id,
                VALUE_ERROR,
                "Kernel argument #{} is on device webgpu:{}, but the kernel is launched on webgpu:{}",
                index,
                memory.device,
                device.id
            );
            bound.try_push(memory.buffer)?;
        }
        let mut entries = Buffer::try_with_capacity(numbers.len() + 1)?;
        for (binding, buffer) in bound.iter().chain([scalars]).enumerate() {
            let resource = buffer.as_entire_binding();
            entries.try_push(wgpu::BindGroupEntry { binding: binding as u32, resource })?;
        }
        let descriptor =
            wgpu::BindGroupDescriptor { label: None, layout: &self.layout, entries: &entries };
        device.reports.of(|| device.device.create_bind_group(&descriptor))
    }

    /// Returns an error if a buffer that the kernel writes is passed twice: WebGPU does not allow
    /// aliased writable buffers.
    fn check_alone(&self, numbers: &[u64], index: usize) -> Result<()> {
        for before in 0..index {
            if numbers[before] == numbers[index]
                && (self.is_written[before] || self.is_written[index])
            {
                plain_bail!(
                    VALUE_ERROR,
                    "Kernel arguments #{} and #{} are the same WebGPU buffer, and the kernel writes it",
                    before,
                    index
                );
            }
        }
        Ok(())
    }
}

fn entry(binding: usize, ty: wgpu::BufferBindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: binding as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

/// Cached bindings of a kernel. Each slot is empty, holds a binding, or is in use.
pub(super) struct Bindings([AtomicPtr<Binding>; SLOTS]);

/// Marks a slot whose binding is in use by a launch.
const IN_USE: *mut Binding = ptr::without_provenance_mut(1);

/// Guard with exclusive use of a binding. Dropping it returns the binding to its slot.
pub(super) struct BindingGuard<'a> {
    /// Slot of the binding; `None` if all slots were in use, so that the binding is not cached.
    slot: Option<&'a AtomicPtr<Binding>>,
    /// `None` until the binding is created. If that fails, the slot becomes empty.
    binding: Option<Owned<Binding>>,
}

impl BindingGuard<'_> {
    /// Returns the bind group.
    pub(super) fn group(&self) -> Option<&wgpu::BindGroup> {
        self.binding.as_ref().map(|binding| &binding.group)
    }

    /// Drops the binding instead of caching it, after a failed launch.
    #[cold]
    pub(super) fn discard(mut self) {
        self.binding = None;
    }
}

impl Drop for BindingGuard<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            let binding =
                self.binding.take().map_or(ptr::null_mut(), |binding| binding.into_raw().as_ptr());
            slot.store(binding, Ordering::Release);
        }
    }
}

impl Bindings {
    pub(super) const fn new() -> Bindings {
        Bindings([const { AtomicPtr::new(ptr::null_mut()) }; SLOTS])
    }

    /// Takes a binding for a launch, preferably one created for the same buffers.
    ///
    /// # Errors
    /// ValueError for arguments that cannot be bound; MemoryError; errors of the driver.
    #[inline]
    pub(super) fn take(
        &self,
        arguments: &Arguments,
        device: &Device,
        launch: &Launch<'_>,
    ) -> Result<BindingGuard<'_>> {
        let (mut guard, found) =
            self.take_slot(slot_of(&launch.values[..arguments.is_written.len()]));
        let mut binding = match found {
            Some(binding) => binding,
            None => Owned::new(arguments.bind(device, launch)?)?,
        };
        if !binding.is_for(launch) {
            arguments.change(&mut binding, device, launch)?;
        }
        guard.binding = Some(binding);
        Ok(guard)
    }

    /// Takes the first slot at or after `first` that no launch uses, along with its binding if it
    /// has one.
    #[inline]
    fn take_slot(&self, first: usize) -> (BindingGuard<'_>, Option<Owned<Binding>>) {
        for offset in 0..SLOTS {
            let slot = &self.0[(first + offset) % SLOTS];
            let found = slot.swap(IN_USE, Ordering::Acquire);
            if found != IN_USE {
                // SAFETY: a slot owns its binding unless it is in use, and it is in use from now
                // on.
                let binding =
                    NonNull::new(found).map(|binding| unsafe { Owned::from_raw(binding) });
                return (BindingGuard { slot: Some(slot), binding: None }, binding);
            }
        }
        (BindingGuard { slot: None, binding: None }, None)
    }
}

impl Binding {
    #[inline]
    fn is_for(&self, launch: &Launch<'_>) -> bool {
        self.blocks_along_x == launch.sizes.grid()[0] && *self.values == *launch.values
    }
}

/// Returns the slot at which the search for these buffers begins.
fn slot_of(buffers: &[u64]) -> usize {
    let mix = |hash: u64, number: &u64| (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (buffers.iter().fold(0, mix) >> 32) as usize % SLOTS
}

impl Drop for Bindings {
    fn drop(&mut self) {
        for slot in &mut self.0 {
            if let Some(binding) = NonNull::new(*slot.get_mut()) {
                // SAFETY: the slot owns its binding, and no launch is in progress.
                drop(unsafe { Owned::from_raw(binding) });
            }
        }
    }
}
