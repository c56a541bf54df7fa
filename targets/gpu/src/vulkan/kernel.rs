//! Vulkan kernels: a compute pipeline for each shader, and launches.

use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure, plain_error};

use super::descriptors::Sets;
use super::device::Device;
use super::failure::{self, Outcome, check, is_out_of_memory};
use super::memory::Memory;
use super::queue::Queue;
use crate::forks;
use crate::launch::{Launch, MAX_PARAMETERS, pack_slots_of_8};
use crate::spirv::{SLOT_BYTES, Shader};

/// Maximum size of push constants in bytes. It bounds the stack buffer, even if a device supports
/// more.
const MAX_PUSH_BYTES: usize = 256;

/// A kernel loaded on one device.
pub struct Kernel {
    device: &'static Device,
    buffers: u32,
    /// Size of the scalars in bytes.
    scalar_bytes: u32,
    has_uniform: bool,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    descriptors: Descriptors,
    /// Last batch that contains a launch of the kernel.
    last_batch: AtomicU64,
}

/// Method by which a launch binds its buffers.
enum Descriptors {
    /// Pushed into the command buffer with an update template.
    Pushed {
        template: vk::DescriptorUpdateTemplate,
        push: vk::PFN_vkCmdPushDescriptorSetWithTemplateKHR,
    },
    /// Bound as a descriptor set. The lock is taken while the queue is locked.
    Sets(Mutex<Sets>),
    /// The kernel has no buffers.
    None,
}

/// Descriptors of a launch, on the stack of the launching thread: one per parameter, and one for
/// the scalars.
type Bindings = heapless::Vec<vk::DescriptorBufferInfo, { MAX_PARAMETERS + 1 }>;

/// Appends a buffer. The capacity suffices for all parameters and the scalars.
#[inline]
fn bind(bindings: &mut Bindings, buffer: vk::Buffer, offset: u64, range: u64) {
    let _ = bindings.push(vk::DescriptorBufferInfo { buffer, offset, range });
}

impl Kernel {
    /// Compiles a shader into a pipeline.
    ///
    /// # Errors
    /// InternalError for a shader that needs unsupported features, or that the driver fails to
    /// compile; MemoryError.
    pub(super) fn new(
        device: &'static Device,
        shader: &Shader,
        code: &[u8],
        name: &[u8],
    ) -> Result<Kernel> {
        check_needs(device, shader, name)?;
        let mut kernel = Kernel {
            device,
            buffers: shader.buffer_count,
            scalar_bytes: shader.scalar_count * SLOT_BYTES,
            has_uniform: shader.has_uniform,
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            descriptors: Descriptors::None,
            last_batch: AtomicU64::new(0),
        };
        let module =
            ShaderModule::new(device, code).map_err(|error| error.of_kernel(device, name))?;
        let mut terminated = Buffer::try_with_capacity(name.len() + 1)?;
        terminated.try_extend_from_slice(name)?;
        terminated.try_push(0)?;
        let compiled = kernel.lay_out().and_then(|()| kernel.compile(&module, &terminated));
        compiled.map_err(|code| Failure::Driver(code).of_kernel(device, name))?;
        Ok(kernel)
    }

    fn bindings(&self) -> u32 {
        self.buffers + u32::from(self.has_uniform)
    }

    /// Returns the descriptor types with the number of descriptors of each, and how many of the
    /// types are used.
    fn descriptor_sizes(&self) -> ([vk::DescriptorPoolSize; 2], usize) {
        let size = |kind, count| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count);
        let buffers = size(vk::DescriptorType::STORAGE_BUFFER, self.buffers);
        let uniform = size(vk::DescriptorType::UNIFORM_BUFFER, 1);
        match (self.buffers, self.has_uniform) {
            (0, _) => ([uniform, buffers], usize::from(self.has_uniform)),
            (_, has_uniform) => ([buffers, uniform], 1 + usize::from(has_uniform)),
        }
    }

    /// Creates the layouts, and the update template for push descriptors.
    fn lay_out(&mut self) -> Outcome<()> {
        const NO_MEMORY: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        let (api, handle) = (&self.device.api, self.device.handle);
        let pushes = self.bindings() != 0 && self.device.pushes(self.bindings());
        let mut all = Buffer::new();
        let count = self.bindings() as usize;
        all.reserve_silently(count).map_err(|_| NO_MEMORY)?;
        for binding in 0..self.bindings() {
            let kind = match binding < self.buffers {
                true => vk::DescriptorType::STORAGE_BUFFER,
                false => vk::DescriptorType::UNIFORM_BUFFER,
            };
            let binding = vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE);
            all.try_push(binding).map_err(|_| NO_MEMORY)?;
        }
        let mut wanted = vk::DescriptorSetLayoutCreateInfo::default().bindings(&all);
        if pushes {
            wanted = wanted.flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
        }
        // SAFETY: the records are initialised; the driver writes the handles.
        unsafe {
            check((api.vkCreateDescriptorSetLayout)(
                handle,
                &wanted,
                ptr::null(),
                &mut self.set_layout,
            ))?;
            let sets = [self.set_layout];
            let ranges = [vk::PushConstantRange::default()
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
                .size(self.scalar_bytes)];
            let mut wanted = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            if self.scalar_bytes != 0 && !self.has_uniform {
                wanted = wanted.push_constant_ranges(&ranges);
            }
            check((api.vkCreatePipelineLayout)(handle, &wanted, ptr::null(), &mut self.layout))?;
        }
        if pushes {
            self.make_template()?;
        } else if self.bindings() != 0 {
            self.descriptors = Descriptors::Sets(Mutex::new(Sets::new()));
        }
        Ok(())
    }

    /// Creates an update template that reads [`Bindings`].
    fn make_template(&mut self) -> Outcome<()> {
        let api = &self.device.api;
        let (Some(create), Some(push)) =
            (api.vkCreateDescriptorUpdateTemplate, api.vkCmdPushDescriptorSetWithTemplateKHR)
        else {
            return Err(vk::Result::ERROR_EXTENSION_NOT_PRESENT);
        };
        let stride = size_of::<vk::DescriptorBufferInfo>();
        let entry = |binding: u32, count, kind| vk::DescriptorUpdateTemplateEntry {
            dst_binding: binding,
            descriptor_count: count,
            descriptor_type: kind,
            offset: binding as usize * stride,
            stride,
            ..Default::default()
        };
        let buffers = entry(0, self.buffers, vk::DescriptorType::STORAGE_BUFFER);
        let uniform = entry(self.buffers, 1, vk::DescriptorType::UNIFORM_BUFFER);
        let entries = match (self.buffers, self.has_uniform) {
            (0, _) => [uniform, buffers],
            _ => [buffers, uniform],
        };
        let (_, count) = self.descriptor_sizes();
        let wanted = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries[..count])
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .pipeline_layout(self.layout);
        let mut template = vk::DescriptorUpdateTemplate::null();
        // SAFETY: the record is initialised; the driver writes the handle.
        check(unsafe { create(self.device.handle, &wanted, ptr::null(), &mut template) })?;
        self.descriptors = Descriptors::Pushed { template, push };
        Ok(())
    }

    fn compile(&mut self, module: &ShaderModule, name: &[u8]) -> Outcome<()> {
        let stage = vk::PipelineShaderStageCreateInfo {
            stage: vk::ShaderStageFlags::COMPUTE,
            module: module.handle,
            p_name: name.as_ptr().cast(),
            ..Default::default()
        };
        let wanted = vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout);
        // SAFETY: the records are initialised, and the name ends in a NUL; the driver writes the
        // handle.
        check(unsafe {
            (self.device.api.vkCreateComputePipelines)(
                self.device.handle,
                vk::PipelineCache::null(),
                1,
                &wanted,
                ptr::null(),
                &mut self.pipeline,
            )
        })?;
        // A null pipeline should come with an error code. A driver that returns null without one
        // would crash in a launch.
        if self.pipeline == vk::Pipeline::null() { Err(vk::Result::ERROR_UNKNOWN) } else { Ok(()) }
    }

    /// Queues a launch.
    ///
    /// # Errors
    /// ValueError for a buffer that is null, on another device, or larger than the device's limit,
    /// and for a grid that is too large; errors of the driver.
    ///
    /// # Safety
    /// The values must have the kernel's parameter types; handles must be [`Memory`] records or
    /// null.
    pub(super) unsafe fn launch(&self, launch: &Launch<'_>) -> Result<()> {
        forks::check()?;
        let grid = launch.sizes.grid();
        let most = &self.device.limits().max_compute_work_group_count;
        if let Some(axis) = (0..3).find(|axis| grid[*axis] > most[*axis]) {
            return Err(self.too_large(axis, grid[axis]));
        }
        let mut bindings = Bindings::new();
        for (index, (parameter, value)) in launch.parameters().enumerate() {
            if parameter.is_handle() {
                // SAFETY: the caller guarantees the record.
                let memory =
                    unsafe { ptr::with_exposed_provenance::<Memory>(*value as usize).as_ref() };
                match memory {
                    Some(memory)
                        if memory.device == self.device.handle
                            && memory.bytes
                                <= u64::from(self.device.limits().max_storage_buffer_range) =>
                    {
                        bind(&mut bindings, memory.buffer, 0, memory.bytes);
                    }
                    other => return Err(self.unfit(index, other)),
                }
            }
        }
        let mut queue = self.device.queue();
        let outcome = self.record(&mut queue, launch, &mut bindings);
        drop(queue);
        outcome.map_err(failure::error)
    }

    #[cold]
    fn too_large(&self, axis: usize, blocks: u32) -> Error {
        plain_error!(
            VALUE_ERROR,
            "The grid has {} blocks along axis {}, but the Vulkan device at most {}",
            blocks,
            axis,
            self.device.limits().max_compute_work_group_count[axis]
        )
    }

    #[cold]
    fn unfit(&self, index: usize, memory: Option<&Memory>) -> Error {
        match memory {
            None => plain_error!(VALUE_ERROR, "Kernel argument #{} is null", index),
            Some(memory) if memory.device != self.device.handle => {
                plain_error!(VALUE_ERROR, "Kernel argument #{} is memory of another device", index)
            }
            Some(memory) => plain_error!(
                VALUE_ERROR,
                "Kernel argument #{} has {} bytes, but the Vulkan device has storage buffers of at most {}",
                index,
                memory.bytes as usize,
                self.device.limits().max_storage_buffer_range
            ),
        }
    }

    /// Records a launch in the open batch. The grid must be within the limits, and the buffers must
    /// belong to the device.
    fn record(
        &self,
        queue: &mut Queue,
        launch: &Launch<'_>,
        bindings: &mut Bindings,
    ) -> Outcome<()> {
        let (device, api) = (self.device, &self.device.api);
        if self.has_uniform {
            self.stage_scalars(queue, launch, bindings)?;
        }
        let batch = queue.batch(device)?;
        let commands = batch.commands;
        // Stored before the pipeline is bound, since later steps may fail.
        self.last_batch.store(batch.number, Ordering::Relaxed);
        if batch.bound != self.pipeline {
            batch.bound = self.pipeline;
            // SAFETY: the batch is open, and the pipeline lives until it is done, which `drop`
            // waits for.
            unsafe {
                (api.vkCmdBindPipeline)(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline)
            };
        }
        match &self.descriptors {
            Descriptors::Pushed { template, push } => {
                // SAFETY: there are as many bindings as the template reads.
                unsafe { push(commands, *template, self.layout, 0, bindings.as_ptr().cast()) };
            }
            Descriptors::Sets(sets) => self.bind_set(sets, queue, commands, bindings)?,
            Descriptors::None => {}
        }
        if self.scalar_bytes != 0 && !self.has_uniform {
            let mut scalars = [0; MAX_PUSH_BYTES];
            pack_slots_of_8(launch, &mut scalars);
            // SAFETY: the scalars have this many bytes, and the layout has such a range.
            unsafe {
                (api.vkCmdPushConstants)(
                    commands,
                    self.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    self.scalar_bytes,
                    scalars.as_ptr().cast(),
                );
            }
        }
        let [x, y, z] = launch.sizes.grid();
        // SAFETY: the pipeline is bound, with everything in its layout.
        unsafe { (api.vkCmdDispatch)(commands, x, y, z) };
        queue.end_command(device, false)
    }

    /// Copies the scalars into staging memory of the open batch.
    fn stage_scalars(
        &self,
        queue: &mut Queue,
        launch: &Launch<'_>,
        bindings: &mut Bindings,
    ) -> Outcome<()> {
        let alignment =
            self.device.limits().min_uniform_buffer_offset_alignment.max(SLOT_BYTES.into());
        let bytes = self.scalar_bytes as usize;
        let staged = queue.stage(self.device, bytes, alignment as usize)?;
        // SAFETY: the bytes are reserved for this launch.
        let scalars = unsafe {
            staged.data.write_bytes(0, bytes);
            core::slice::from_raw_parts_mut(staged.data.as_ptr(), bytes)
        };
        pack_slots_of_8(launch, scalars);
        bind(bindings, staged.buffer, staged.offset, self.scalar_bytes.into());
        Ok(())
    }

    fn bind_set(
        &self,
        sets: &Mutex<Sets>,
        queue: &Queue,
        commands: vk::CommandBuffer,
        bindings: &Bindings,
    ) -> Outcome<()> {
        let (device, api) = (self.device, &self.device.api);
        let (sizes, kinds) = self.descriptor_sizes();
        let set = {
            let mut sets = sets.lock().unwrap_or_else(PoisonError::into_inner);
            sets.take(device, queue, self.set_layout, &sizes[..kinds])?
        };
        let mut first = 0;
        let mut writes = [vk::WriteDescriptorSet::default(); 2];
        for (write, size) in writes.iter_mut().zip(&sizes[..kinds]) {
            *write = vk::WriteDescriptorSet {
                dst_set: set,
                dst_binding: first,
                descriptor_count: size.descriptor_count,
                descriptor_type: size.ty,
                p_buffer_info: bindings.as_ptr().wrapping_add(first as usize),
                ..Default::default()
            };
            first += size.descriptor_count;
        }
        // SAFETY: no command uses the set, and there are as many bindings as its layout has.
        unsafe {
            (api.vkUpdateDescriptorSets)(
                device.handle,
                kinds as u32,
                writes.as_ptr(),
                0,
                ptr::null(),
            );
            (api.vkCmdBindDescriptorSets)(
                commands,
                vk::PipelineBindPoint::COMPUTE,
                self.layout,
                0,
                1,
                &set,
                0,
                ptr::null(),
            );
        }
        Ok(())
    }
}

impl Drop for Kernel {
    /// Waits for queued launches, then destroys the driver's objects. If waiting fails, the objects
    /// are leaked.
    fn drop(&mut self) {
        if !self.device.settle(*self.last_batch.get_mut()) {
            return;
        }
        let (api, handle) = (&self.device.api, self.device.handle);
        // SAFETY: the handles are null or owned, and no command uses them.
        unsafe {
            match &mut self.descriptors {
                Descriptors::Pushed { template, .. } => {
                    if let Some(destroy) = api.vkDestroyDescriptorUpdateTemplate {
                        destroy(handle, *template, ptr::null());
                    }
                }
                Descriptors::Sets(sets) => {
                    sets.get_mut().unwrap_or_else(PoisonError::into_inner).destroy(self.device);
                }
                Descriptors::None => {}
            }
            (api.vkDestroyPipeline)(handle, self.pipeline, ptr::null());
            (api.vkDestroyPipelineLayout)(handle, self.layout, ptr::null());
            (api.vkDestroyDescriptorSetLayout)(handle, self.set_layout, ptr::null());
        }
    }
}

/// Shader module, needed only until the pipeline is created.
struct ShaderModule {
    device: &'static Device,
    handle: vk::ShaderModule,
}

impl ShaderModule {
    fn new(device: &'static Device, code: &[u8]) -> core::result::Result<ShaderModule, Failure> {
        let mut words = Buffer::try_with_capacity(code.len() / 4)
            .map_err(|refused| Failure::Other(refused.into()))?;
        for word in code.as_chunks().0 {
            words
                .try_push(u32::from_le_bytes(*word))
                .map_err(|refused| Failure::Other(refused.into()))?;
        }
        let wanted = vk::ShaderModuleCreateInfo::default().code(&words);
        let mut handle = vk::ShaderModule::null();
        // SAFETY: the record is initialised; the driver writes the handle.
        check(unsafe {
            (device.api.vkCreateShaderModule)(device.handle, &wanted, ptr::null(), &mut handle)
        })
        .map_err(Failure::Driver)?;
        Ok(ShaderModule { device, handle })
    }
}

impl Drop for ShaderModule {
    fn drop(&mut self) {
        // SAFETY: the module is owned; pipelines do not need it any more.
        unsafe {
            (self.device.api.vkDestroyShaderModule)(self.device.handle, self.handle, ptr::null());
        }
    }
}

/// Failure to create a kernel: the driver's result code, or an error object.
enum Failure {
    Driver(vk::Result),
    Other(Error),
}

impl Failure {
    #[cold]
    fn of_kernel(self, device: &Device, name: &[u8]) -> Error {
        match self {
            Failure::Other(error) => error,
            Failure::Driver(code) if is_out_of_memory(code) => failure::error(code),
            Failure::Driver(code) => plain_error!(
                INTERNAL_ERROR,
                "Vulkan Error, code={}: {}, while the kernel {} was compiled for {}",
                code.as_raw(),
                failure::name(code),
                name,
                device.adapter.name()
            ),
        }
    }
}

/// Checks that a device supports all capabilities and limits that a shader needs.
fn check_needs(device: &Device, shader: &Shader, name: &[u8]) -> Result<()> {
    let adapter = device.adapter;
    let limits = device.limits();
    let version = adapter.spirv_version();
    plain_ensure!(
        shader.version <= version,
        INTERNAL_ERROR,
        "The kernel {} is SPIR-V {}.{}, but {} takes at most {}.{}",
        name,
        shader.version >> 8,
        shader.version & 0xff,
        adapter.name(),
        version >> 8,
        version & 0xff
    );
    if let Some(lacking) = shader.capabilities.iter().find(|each| !adapter.has_capability(**each)) {
        plain_bail!(
            INTERNAL_ERROR,
            "The kernel {} needs the SPIR-V capability {}, which {} does not have",
            name,
            *lacking,
            adapter.name()
        );
    }
    let threads =
        shader.block.iter().fold(1u64, |product, extent| product.saturating_mul((*extent).into()));
    let is_small = threads <= limits.max_compute_work_group_invocations.into()
        && (0..3).all(|axis| shader.block[axis] <= limits.max_compute_work_group_size[axis]);
    plain_ensure!(
        is_small,
        INTERNAL_ERROR,
        "The kernel {} has blocks of {} x {} x {} threads, more than {} has",
        name,
        shader.block[0],
        shader.block[1],
        shader.block[2],
        adapter.name()
    );
    let buffers = limits
        .max_per_stage_descriptor_storage_buffers
        .min(limits.max_descriptor_set_storage_buffers);
    let all = limits.max_per_stage_resources;
    plain_ensure!(
        shader.buffer_count <= buffers
            && shader.buffer_count + u32::from(shader.has_uniform) <= all,
        INTERNAL_ERROR,
        "The kernel {} has {} buffers, but {} takes at most {}",
        name,
        shader.buffer_count,
        adapter.name(),
        buffers.min(all)
    );
    let bytes = shader.scalar_count * SLOT_BYTES;
    let most = match shader.has_uniform {
        true => limits.max_uniform_buffer_range,
        false => limits.max_push_constants_size.min(MAX_PUSH_BYTES as u32),
    };
    plain_ensure!(
        bytes <= most,
        INTERNAL_ERROR,
        "The kernel {} has {} bytes of scalars, but {} takes at most {}",
        name,
        bytes,
        adapter.name(),
        most
    );
    Ok(())
}
