//! A Vulkan device with its queue.

use core::ffi::c_void;
use core::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;
use ferrite_core::error::Result;
use ferrite_core::plain_bail;

use super::adapter::Adapter;
use super::api::DeviceApi;
use super::failure::{check, raise};
use super::heap::Heap;
use super::memory::USAGE;
use super::platform::Instance;
use super::queue::{Pins, Queue, STAGING_USAGE};
use crate::allocation::FreeList;
use crate::workspace::Workspaces;

/// Number of descriptors that every driver with push descriptors can push at once.
const LEAST_PUSHED: u32 = 32;

/// A Vulkan device. Devices cannot share memory.
pub(super) struct Device {
    pub(super) api: DeviceApi,
    pub(super) adapter: &'static Adapter,
    pub(super) handle: vk::Device,
    /// Memory type of tensors.
    pub(super) memory_type: u32,
    /// Memory type of staging buffers.
    pub(super) staging_type: u32,
    queue: Mutex<Queue>,
    pub(super) pins: Pins,
    heap: Mutex<Heap>,
    pub(super) unused: FreeList,
    pub(super) workspaces: Workspaces,
}

impl Device {
    /// Opens a device, with all supported features that kernels may need.
    ///
    /// # Errors
    /// Errors of the driver; MemoryError.
    pub(super) fn open(instance: &Instance, adapter: &'static Adapter) -> Result<Device> {
        let mut features = adapter.features;
        let basic = features.basic;
        let chain = adapter.chain(&mut features);
        let mut all =
            vk::PhysicalDeviceFeatures2 { p_next: chain, features: basic, ..Default::default() };
        let has_chain = !chain.is_null();
        let extensions = adapter.extensions()?;
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(adapter.family)
            .queue_priorities(&priorities)];
        let mut wanted = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions);
        if has_chain {
            wanted.p_next = (&raw mut all).cast::<c_void>();
        } else {
            wanted.p_enabled_features = &basic;
        }
        let mut handle = vk::Device::null();
        // SAFETY: the records are initialised, and the adapter supports everything they request;
        // the driver writes the handle.
        let created = unsafe {
            (instance.api.vkCreateDevice)(adapter.physical, &wanted, ptr::null(), &mut handle)
        };
        raise(check(created))?;
        // SAFETY: the device belongs to the instance.
        let api = match unsafe { DeviceApi::of_device(&instance.api, handle) } {
            Ok(api) => api,
            Err(error) => {
                // SAFETY: every driver has this function for every device, and the device is owned.
                unsafe { instance.destroy_device(handle) };
                return Err(error);
            }
        };
        let mut queue = vk::Queue::null();
        // SAFETY: the device was created with this queue.
        unsafe { (api.vkGetDeviceQueue)(handle, adapter.family, 0, &mut queue) };
        let mut device = Device {
            api,
            adapter,
            handle,
            memory_type: 0,
            staging_type: 0,
            queue: Mutex::new(Queue::new(queue)),
            pins: Pins::default(),
            heap: Mutex::new(Heap::new()),
            unused: FreeList::new(adapter.heap_bytes()),
            workspaces: Workspaces::new(),
        };
        device.choose_memory()?;
        Ok(device)
    }

    /// Selects memory types. All buffers with the same usage can have the same types.
    fn choose_memory(&mut self) -> Result<()> {
        use vk::MemoryPropertyFlags as Flags;
        let visible = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        self.memory_type = self.memory_type(USAGE, Flags::DEVICE_LOCAL, Flags::empty())?;
        self.staging_type =
            self.memory_type(STAGING_USAGE, visible | Flags::HOST_CACHED, visible)?;
        Ok(())
    }

    fn memory_type(
        &self,
        usage: vk::BufferUsageFlags,
        best: vk::MemoryPropertyFlags,
        least: vk::MemoryPropertyFlags,
    ) -> Result<u32> {
        let probe = raise(self.create_buffer(4, usage))?;
        let allowed = self.needs_of(probe).memory_type_bits;
        self.destroy_buffer(probe);
        let find = |flags| self.adapter.memory_type(allowed, flags);
        match find(best).or_else(|| find(least)) {
            Some(found) => Ok(found),
            None => plain_bail!(INTERNAL_ERROR, "The Vulkan device has no memory for buffers"),
        }
    }

    /// Locks the queue. While it is locked, no error object may be created and no user allocator
    /// may be called.
    #[inline]
    pub(super) fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the heap. It may be locked while the queue is locked.
    pub(super) fn heap(&self) -> MutexGuard<'_, Heap> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if this number of descriptors is pushed into the command buffer instead of
    /// bound as a set.
    pub(super) fn pushes(&self, descriptors: u32) -> bool {
        self.adapter.has_push_descriptors()
            && self.api.vkCmdPushDescriptorSetWithTemplateKHR.is_some()
            && self.api.vkCreateDescriptorUpdateTemplate.is_some()
            && descriptors <= LEAST_PUSHED
    }

    /// Returns the limits of the adapter.
    pub(super) fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.adapter.properties.limits
    }
}

impl Drop for Device {
    /// Destroys a device that could not be opened completely, for which no other objects exist.
    /// Opened devices are never dropped.
    fn drop(&mut self) {
        // SAFETY: the device is owned, and nothing of it is in use.
        unsafe { (self.api.vkDestroyDevice)(self.handle, ptr::null()) };
    }
}
