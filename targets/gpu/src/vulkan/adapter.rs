//! Vulkan adapters: physical devices and their capabilities.

use core::ffi::{CStr, c_void};
use core::ptr;

use ash::vk;
use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;

use super::api::InstanceApi;
use super::failure::{check, raise};

/// Optional extensions, each with the Vulkan version that made it core.
const EXTENSIONS: [(&CStr, u32); 9] = [
    (ash::khr::push_descriptor::NAME, u32::MAX),
    (ash::khr::storage_buffer_storage_class::NAME, vk::API_VERSION_1_1),
    (ash::khr::_8bit_storage::NAME, vk::API_VERSION_1_2),
    (ash::khr::shader_float16_int8::NAME, vk::API_VERSION_1_2),
    (ash::khr::shader_atomic_int64::NAME, vk::API_VERSION_1_2),
    (ash::khr::vulkan_memory_model::NAME, vk::API_VERSION_1_2),
    (ash::khr::shader_float_controls::NAME, vk::API_VERSION_1_2),
    (ash::khr::spirv_1_4::NAME, vk::API_VERSION_1_2),
    (ash::khr::shader_integer_dot_product::NAME, vk::API_VERSION_1_3),
];

const PUSH_DESCRIPTOR: usize = 0;
const STORAGE_CLASS: usize = 1;
const BYTE_STORAGE: usize = 2;
const HALF_AND_BYTE: usize = 3;
const LONG_ATOMICS: usize = 4;
const MEMORY_MODEL: usize = 5;
const SPIRV_1_4: usize = 7;
const DOT_PRODUCT: usize = 8;

/// A physical device that has a queue family for compute.
pub(super) struct Adapter {
    pub(super) physical: vk::PhysicalDevice,
    pub(super) properties: vk::PhysicalDeviceProperties,
    /// The lower of the Vulkan versions that the instance and the physical device support.
    pub(super) version: u32,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    /// First queue family that supports compute.
    pub(super) family: u32,
    /// Bit set of the [`EXTENSIONS`] that the driver offers.
    listed: u32,
    pub(super) features: Features,
    pub(super) subgroups: Subgroups,
}

/// Optional features. A device is created with the features that its adapter supports.
#[derive(Clone, Copy, Default)]
pub(super) struct Features {
    pub(super) basic: vk::PhysicalDeviceFeatures,
    pub(super) half_storage: vk::PhysicalDevice16BitStorageFeatures<'static>,
    pub(super) byte_storage: vk::PhysicalDevice8BitStorageFeatures<'static>,
    pub(super) half_and_byte: vk::PhysicalDeviceShaderFloat16Int8Features<'static>,
    pub(super) long_atomics: vk::PhysicalDeviceShaderAtomicInt64Features<'static>,
    pub(super) memory_model: vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>,
    pub(super) dot_product: vk::PhysicalDeviceShaderIntegerDotProductFeatures<'static>,
}

/// Properties of subgroups, the groups of threads that can exchange values.
#[derive(Clone, Copy, Default)]
pub(super) struct Subgroups {
    pub(super) size: u32,
    pub(super) operations: vk::SubgroupFeatureFlags,
}

impl Adapter {
    /// Queries a physical device. Returns `None` if it has no queue family for compute.
    ///
    /// # Errors
    /// Errors of the driver; MemoryError.
    pub(super) fn new(
        api: &InstanceApi,
        physical: vk::PhysicalDevice,
        instance_version: u32,
    ) -> Result<Option<Adapter>> {
        let mut properties = vk::PhysicalDeviceProperties::default();
        let mut memory = vk::PhysicalDeviceMemoryProperties::default();
        // SAFETY: the adapter belongs to the instance; the driver fills both records.
        unsafe {
            (api.vkGetPhysicalDeviceProperties)(physical, &mut properties);
            (api.vkGetPhysicalDeviceMemoryProperties)(physical, &mut memory);
        }
        let Some(family) = compute_family(api, physical)? else { return Ok(None) };
        let mut adapter = Adapter {
            physical,
            properties,
            version: without_patch(properties.api_version).min(without_patch(instance_version)),
            memory,
            family,
            listed: listed_extensions(api, physical)?,
            features: Features::default(),
            subgroups: Subgroups::default(),
        };
        adapter.ask_features(api);
        adapter.ask_subgroups(api);
        Ok(Some(adapter))
    }

    /// Returns the name.
    pub(super) fn name(&self) -> &[u8] {
        self.properties.device_name_as_c_str().map_or(b"", CStr::to_bytes)
    }

    /// Returns the rank by type for sorting: discrete GPUs first, then integrated GPUs, virtual
    /// GPUs, CPUs, others.
    pub(super) fn rank(&self) -> u32 {
        rank(self.properties.device_type)
    }

    fn is_listed(&self, extension: usize) -> bool {
        self.listed & 1 << extension != 0
    }

    /// Returns `true` if an extension is available, by itself or as part of the Vulkan version.
    fn has(&self, extension: usize) -> bool {
        self.version >= EXTENSIONS[extension].1 || self.is_listed(extension)
    }

    /// Returns `true` if descriptors can be pushed into a command buffer with an update template.
    pub(super) fn has_push_descriptors(&self) -> bool {
        self.version >= vk::API_VERSION_1_1 && self.is_listed(PUSH_DESCRIPTOR)
    }

    /// Returns `true` if shaders may use the storage class `StorageBuffer`.
    pub(super) fn has_storage_class(&self) -> bool {
        self.has(STORAGE_CLASS)
    }

    /// Returns the newest supported SPIR-V version: major * 256 + minor.
    pub(super) fn spirv_version(&self) -> u32 {
        match self.version {
            vk::API_VERSION_1_3.. => 0x106,
            vk::API_VERSION_1_2.. => 0x105,
            vk::API_VERSION_1_1.. if self.is_listed(SPIRV_1_4) => 0x104,
            vk::API_VERSION_1_1.. => 0x103,
            _ => 0x100,
        }
    }

    /// Returns the names of the extensions to enable. On Vulkan 1.0 that is at most the storage
    /// class extension, since the prerequisites of most others are missing.
    pub(super) fn extensions(&self) -> Result<Buffer<*const core::ffi::c_char>> {
        let mut names = Buffer::new();
        for (index, (name, part_of)) in EXTENSIONS.iter().enumerate() {
            let is_usable = self.version >= vk::API_VERSION_1_1 || index == STORAGE_CLASS;
            if is_usable && self.is_listed(index) && self.version < *part_of {
                names.try_push(name.as_ptr())?;
            }
        }
        Ok(names)
    }

    fn ask_features(&mut self, api: &InstanceApi) {
        let wanted = |has: &vk::PhysicalDeviceFeatures| vk::PhysicalDeviceFeatures {
            shader_int16: has.shader_int16,
            shader_int64: has.shader_int64,
            shader_float64: has.shader_float64,
            ..Default::default()
        };
        let mut features = Features::default();
        match api.vkGetPhysicalDeviceFeatures2 {
            Some(get) if self.version >= vk::API_VERSION_1_1 => {
                let mut all = vk::PhysicalDeviceFeatures2 {
                    p_next: self.chain(&mut features),
                    ..Default::default()
                };
                // SAFETY: the records in the chain are live, and the adapter supports each of them.
                unsafe { get(self.physical, &mut all) };
                features.basic = wanted(&all.features);
            }
            _ => {
                // SAFETY: the driver fills the record.
                unsafe { (api.vkGetPhysicalDeviceFeatures)(self.physical, &mut features.basic) };
                features.basic = wanted(&features.basic);
            }
        }
        self.features = features;
    }

    /// Links the feature structures that the adapter supports into a `pNext` chain. Returns its
    /// head.
    pub(super) fn chain(&self, features: &mut Features) -> *mut c_void {
        let mut first = ptr::null_mut::<c_void>();
        let mut link = |is_known: bool, record: *mut vk::BaseOutStructure<'_>| {
            // SAFETY: each record begins with a `BaseOutStructure`, and is borrowed exclusively.
            unsafe {
                (*record).p_next = ptr::null_mut();
                if is_known {
                    (*record).p_next = first.cast();
                    first = record.cast();
                }
            }
        };
        let is_chained = self.version >= vk::API_VERSION_1_1;
        link(is_chained, (&raw mut features.half_storage).cast());
        link(is_chained && self.has(BYTE_STORAGE), (&raw mut features.byte_storage).cast());
        link(is_chained && self.has(HALF_AND_BYTE), (&raw mut features.half_and_byte).cast());
        link(is_chained && self.has(LONG_ATOMICS), (&raw mut features.long_atomics).cast());
        link(is_chained && self.has(MEMORY_MODEL), (&raw mut features.memory_model).cast());
        link(is_chained && self.has(DOT_PRODUCT), (&raw mut features.dot_product).cast());
        first
    }

    fn ask_subgroups(&mut self, api: &InstanceApi) {
        let Some(get) = api.vkGetPhysicalDeviceProperties2 else { return };
        if self.version < vk::API_VERSION_1_1 {
            return;
        }
        let mut found = vk::PhysicalDeviceSubgroupProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
        // SAFETY: both records are live.
        unsafe { get(self.physical, &mut all) };
        if found.supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            self.subgroups =
                Subgroups { size: found.subgroup_size, operations: found.supported_operations };
        }
    }

    /// Returns `true` if shaders may declare a SPIR-V capability.
    pub(super) fn has_capability(&self, capability: u32) -> bool {
        let has = &self.features;
        let subgroup = |operation| self.subgroups.operations.contains(operation);
        let is_on = match capability {
            // Matrix, Shader.
            0 | 1 => vk::TRUE,
            9 => has.half_and_byte.shader_float16,
            10 => has.basic.shader_float64,
            11 => has.basic.shader_int64,
            12 => has.long_atomics.shader_buffer_int64_atomics,
            22 => has.basic.shader_int16,
            39 => has.half_and_byte.shader_int8,
            61 => return subgroup(vk::SubgroupFeatureFlags::BASIC),
            62 => return subgroup(vk::SubgroupFeatureFlags::VOTE),
            63 => return subgroup(vk::SubgroupFeatureFlags::ARITHMETIC),
            64 => return subgroup(vk::SubgroupFeatureFlags::BALLOT),
            65 => return subgroup(vk::SubgroupFeatureFlags::SHUFFLE),
            66 => return subgroup(vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE),
            67 => return subgroup(vk::SubgroupFeatureFlags::CLUSTERED),
            68 => return subgroup(vk::SubgroupFeatureFlags::QUAD),
            4433 => has.half_storage.storage_buffer16_bit_access,
            4434 => has.half_storage.uniform_and_storage_buffer16_bit_access,
            4435 => has.half_storage.storage_push_constant16,
            4448 => has.byte_storage.storage_buffer8_bit_access,
            4449 => has.byte_storage.uniform_and_storage_buffer8_bit_access,
            4450 => has.byte_storage.storage_push_constant8,
            5345 => has.memory_model.vulkan_memory_model,
            5346 => has.memory_model.vulkan_memory_model_device_scope,
            // Dot products: of any input, of 4 x 8 bits, of 4 x 8 bits packed into a word.
            6016..=6019 => has.dot_product.shader_integer_dot_product,
            _ => vk::FALSE,
        };
        is_on != vk::FALSE
    }

    /// Returns the index of a memory type in the bit set `allowed` that has the wanted properties;
    /// `None` if there is none.
    pub(super) fn memory_type(&self, allowed: u32, wanted: vk::MemoryPropertyFlags) -> Option<u32> {
        let types = self.memory.memory_types.iter().take(self.memory.memory_type_count as usize);
        let mut usable = types.enumerate().filter(|(index, _)| allowed & 1 << index != 0);
        let found = usable.find(|(_, each)| each.property_flags.contains(wanted));
        found.map(|(index, _)| index as u32)
    }

    /// Returns the size of the largest device-local heap in bytes.
    pub(super) fn heap_bytes(&self) -> u64 {
        let heaps = self.memory.memory_heaps.iter().take(self.memory.memory_heap_count as usize);
        let local = heaps.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        local.map(|heap| heap.size).max().unwrap_or(0)
    }
}

const fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    }
}

/// Returns a version with its patch number cleared.
const fn without_patch(version: u32) -> u32 {
    version & !0xfff
}

fn compute_family(api: &InstanceApi, physical: vk::PhysicalDevice) -> Result<Option<u32>> {
    let get = api.vkGetPhysicalDeviceQueueFamilyProperties;
    let mut count = 0;
    // SAFETY: the driver writes the number.
    unsafe { get(physical, &mut count, ptr::null_mut()) };
    let mut families = Buffer::new();
    families.try_resize(count as usize, vk::QueueFamilyProperties::default())?;
    // SAFETY: the list has `count` elements.
    unsafe { get(physical, &mut count, families.as_mut_slice().as_mut_ptr()) };
    let mut families = families.iter().take(count as usize);
    let found = families.position(|family| {
        family.queue_count != 0 && family.queue_flags.contains(vk::QueueFlags::COMPUTE)
    });
    Ok(found.map(|index| index as u32))
}

fn listed_extensions(api: &InstanceApi, physical: vk::PhysicalDevice) -> Result<u32> {
    let get = api.vkEnumerateDeviceExtensionProperties;
    let mut count = 0;
    // SAFETY: the driver writes the number.
    raise(check(unsafe { get(physical, ptr::null(), &mut count, ptr::null_mut()) }))?;
    let mut found = Buffer::new();
    found.try_resize(count as usize, vk::ExtensionProperties::default())?;
    let out = found.as_mut_slice().as_mut_ptr();
    // SAFETY: the list has `count` elements.
    raise(check(unsafe { get(physical, ptr::null(), &mut count, out) }))?;
    let mut listed = 0;
    for (index, (name, _)) in EXTENSIONS.iter().enumerate() {
        let mut found = found.iter().take(count as usize);
        if found.any(|each| each.extension_name_as_c_str() == Ok(*name)) {
            listed |= 1 << index;
        }
    }
    Ok(listed)
}

/// Returns the physical devices of an instance.
///
/// # Errors
/// Errors of the driver; InternalError if it lists a null adapter; MemoryError.
pub(super) fn physical_devices(
    api: &InstanceApi,
    instance: vk::Instance,
) -> Result<Buffer<vk::PhysicalDevice>> {
    let get = api.vkEnumeratePhysicalDevices;
    let mut count = 0;
    // SAFETY: the driver writes the number.
    raise(check(unsafe { get(instance, &mut count, ptr::null_mut()) }))?;
    let mut found = Buffer::new();
    found.try_resize(count as usize, vk::PhysicalDevice::null())?;
    if count != 0 {
        // SAFETY: the list has `count` elements.
        raise(check(unsafe { get(instance, &mut count, found.as_mut_slice().as_mut_ptr()) }))?;
    }
    found.truncate(count as usize);
    if found.iter().any(|each| *each == vk::PhysicalDevice::null()) {
        plain_bail!(INTERNAL_ERROR, "The Vulkan driver listed an adapter that is null");
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_are_sorted_by_kind() {
        use vk::PhysicalDeviceType as Kind;
        let sorted =
            [Kind::DISCRETE_GPU, Kind::INTEGRATED_GPU, Kind::VIRTUAL_GPU, Kind::CPU, Kind::OTHER]
                .map(rank);
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        assert_eq!(rank(Kind::from_raw(77)), 4);
    }
}
