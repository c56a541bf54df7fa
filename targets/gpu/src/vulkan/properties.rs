//! Attributes of a Vulkan device, and the properties from which TVM builds a target.

use core::ffi::CStr;

use ash::vk;
use ferrite_alloc_ext::device::Attribute;
use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, String, plain_ensure};

use super::adapter::Adapter;
use super::platform;

/// Returns the value of an attribute; `None` if Vulkan has no such attribute.
///
/// # Errors
/// MemoryError.
pub(super) fn attribute(adapter: &Adapter, attribute: Attribute) -> Result<Any> {
    let limits = &adapter.properties.limits;
    Ok(match attribute {
        Attribute::MaxThreadsPerBlock => number(limits.max_compute_work_group_invocations),
        Attribute::WarpSize => number(warp_size(adapter)),
        Attribute::SharedMemoryPerBlock => number(limits.max_compute_shared_memory_size),
        Attribute::ComputeVersion => version(adapter.properties.api_version)?.into(),
        Attribute::DeviceName => String::from_bytes(adapter.name())?.into(),
        Attribute::MaxThreadDimensions => {
            let [x, y, z] = limits.max_compute_work_group_size;
            String::format(format_args!("[{x}, {y}, {z}]"))?.into()
        }
        Attribute::ApiVersion => number(adapter.properties.api_version),
        Attribute::DriverVersion => version(adapter.properties.driver_version)?.into(),
        Attribute::TotalGlobalMemory => adapter.heap_bytes().cast_signed().into(),
        _ => Any::NONE,
    })
}

fn number(value: u32) -> Any {
    i64::from(value).into()
}

fn version(version: u32) -> Result<String> {
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    String::format(format_args!("{major}.{minor}.{}", vk::api_version_patch(version)))
}

/// Returns the number of threads in a subgroup; 1 if kernels cannot use subgroups.
fn warp_size(adapter: &Adapter) -> u32 {
    let has_basic = adapter.subgroups.operations.contains(vk::SubgroupFeatureFlags::BASIC);
    if has_basic { adapter.subgroups.size.max(1) } else { 1 }
}

/// Implements `device_api.vulkan.get_target_property`. Returns `None` for an unknown property.
///
/// # Errors
/// Same errors as [`platform::adapter`]; ValueError for a device of another type.
pub(super) fn target_property(device: DLDevice, name: String) -> Result<Any> {
    plain_ensure!(
        device.device_type == kind::VULKAN,
        VALUE_ERROR,
        "Device type {} is not Vulkan's",
        device.device_type
    );
    let adapter = platform::adapter(device.device_id)?;
    let (limits, has) = (&adapter.properties.limits, &adapter.features);
    let flag = |value: vk::Bool32| Any::from(value != vk::FALSE);
    let [x, y, z] = limits.max_compute_work_group_size;
    Ok(match name.as_bytes() {
        b"supports_float32" | b"supports_int32" => true.into(),
        b"supports_float16" => flag(has.half_and_byte.shader_float16),
        b"supports_float64" => flag(has.basic.shader_float64),
        b"supports_int8" => flag(has.half_and_byte.shader_int8),
        b"supports_int16" => flag(has.basic.shader_int16),
        b"supports_int64" => flag(has.basic.shader_int64),
        b"supports_8bit_buffer" => flag(has.byte_storage.storage_buffer8_bit_access),
        b"supports_16bit_buffer" => flag(has.half_storage.storage_buffer16_bit_access),
        b"supports_storage_buffer_storage_class" => adapter.has_storage_class().into(),
        b"supports_push_descriptor" => adapter.has_push_descriptors().into(),
        b"supports_dedicated_allocation" | b"supports_cooperative_matrix" => false.into(),
        b"supports_integer_dot_product" => flag(has.dot_product.shader_integer_dot_product),
        b"supported_subgroup_operations" => number(adapter.subgroups.operations.as_raw()),
        b"thread_warp_size" => number(warp_size(adapter)),
        b"max_num_threads" | b"max_threads_per_block" => {
            number(limits.max_compute_work_group_invocations)
        }
        b"max_block_size_x" => number(x),
        b"max_block_size_y" => number(y),
        b"max_block_size_z" => number(z),
        b"max_push_constants_size" => number(limits.max_push_constants_size),
        b"max_uniform_buffer_range" => number(limits.max_uniform_buffer_range),
        b"max_storage_buffer_range" => number(limits.max_storage_buffer_range),
        b"max_per_stage_descriptor_storage_buffer" => {
            number(limits.max_per_stage_descriptor_storage_buffers)
        }
        b"max_shared_memory_per_block" => number(limits.max_compute_shared_memory_size),
        b"max_spirv_version" => {
            number((adapter.spirv_version() >> 8) << 16 | (adapter.spirv_version() & 0xff) << 8)
        }
        b"vulkan_api_version" => number(adapter.version),
        b"driver_version" => number(adapter.properties.driver_version),
        b"device_name" => String::from_bytes(adapter.name())?.into(),
        b"device_type" => String::from_bytes(device_type(adapter).to_bytes())?.into(),
        _ => Any::NONE,
    })
}

/// Returns TVM's name for the type of an adapter, such as `discrete`.
fn device_type(adapter: &Adapter) -> &'static CStr {
    match adapter.rank() {
        0 => c"discrete",
        1 => c"integrated",
        2 => c"virtual",
        3 => c"cpu",
        _ => c"other",
    }
}
