//! Functions of Vulkan that the back end uses, in tables for the loader, an instance and a device.
//!
//! Types and constants come from the crate ash. Its own function tables are not used: they have
//! several hundred functions, and calling a missing one aborts the process.
#![expect(non_snake_case, reason = "the driver spells its functions")]

use core::ffi::CStr;

use ash::vk;
use ferrite_core::error::Result;
use ferrite_core::plain_error;

/// Function pointer of unknown type, as returned by the driver.
type AnyFunction = unsafe extern "system" fn();

/// Declares a table of functions, each with its type in ash. An optional function is an `Option`.
macro_rules! functions {
    (
        $(#[$meta:meta])*
        struct $table:ident {
            $(fn $name:ident: $type:ident;)*
            $(optional fn $optional:ident: $optional_type:ident;)*
        }
    ) => {
        $(#[$meta])*
        pub(super) struct $table {
            $(pub(super) $name: vk::$type,)*
            $(pub(super) $optional: Option<vk::$optional_type>,)*
        }

        impl $table {
            /// Looks up the functions.
            ///
            /// # Errors
            /// RuntimeError if a function is missing.
            ///
            /// # Safety
            /// `get` must return Vulkan functions by their names.
            unsafe fn load(get: &dyn Fn(&CStr) -> vk::PFN_vkVoidFunction) -> Result<$table> {
                // SAFETY: the caller guarantees the functions. Vulkan's registry specifies their
                // types, and ash is generated from it.
                unsafe {
                    Ok($table {
                        $($name: core::mem::transmute::<AnyFunction, vk::$type>(
                            required(get, crate::library::c_name!($name))?
                        ),)*
                        $($optional: core::mem::transmute::<
                            vk::PFN_vkVoidFunction,
                            Option<vk::$optional_type>,
                        >(get(crate::library::c_name!($optional))),)*
                    })
                }
            }
        }
    };
}

#[inline(never)]
fn required(get: &dyn Fn(&CStr) -> vk::PFN_vkVoidFunction, name: &CStr) -> Result<AnyFunction> {
    get(name).ok_or_else(|| {
        plain_error!(RUNTIME_ERROR, "The Vulkan driver has no function {}", name.to_bytes())
    })
}

functions! {
    /// Functions of the loader, which need no instance.
    struct LoaderApi {
        fn vkCreateInstance: PFN_vkCreateInstance;
        optional fn vkEnumerateInstanceVersion: PFN_vkEnumerateInstanceVersion;
    }
}

functions! {
    /// Functions of an instance and its physical devices. The optional functions are part of Vulkan
    /// 1.1.
    struct InstanceApi {
        fn vkDestroyInstance: PFN_vkDestroyInstance;
        fn vkEnumeratePhysicalDevices: PFN_vkEnumeratePhysicalDevices;
        fn vkEnumerateDeviceExtensionProperties: PFN_vkEnumerateDeviceExtensionProperties;
        fn vkGetPhysicalDeviceProperties: PFN_vkGetPhysicalDeviceProperties;
        fn vkGetPhysicalDeviceFeatures: PFN_vkGetPhysicalDeviceFeatures;
        fn vkGetPhysicalDeviceMemoryProperties: PFN_vkGetPhysicalDeviceMemoryProperties;
        fn vkGetPhysicalDeviceQueueFamilyProperties: PFN_vkGetPhysicalDeviceQueueFamilyProperties;
        fn vkCreateDevice: PFN_vkCreateDevice;
        fn vkGetDeviceProcAddr: PFN_vkGetDeviceProcAddr;
        optional fn vkGetPhysicalDeviceProperties2: PFN_vkGetPhysicalDeviceProperties2;
        optional fn vkGetPhysicalDeviceFeatures2: PFN_vkGetPhysicalDeviceFeatures2;
    }
}

functions! {
    /// Functions of a device. The optional functions are for push descriptors.
    struct DeviceApi {
        fn vkDestroyDevice: PFN_vkDestroyDevice;
        fn vkGetDeviceQueue: PFN_vkGetDeviceQueue;
        fn vkQueueSubmit: PFN_vkQueueSubmit;
        fn vkAllocateMemory: PFN_vkAllocateMemory;
        fn vkFreeMemory: PFN_vkFreeMemory;
        fn vkMapMemory: PFN_vkMapMemory;
        fn vkCreateBuffer: PFN_vkCreateBuffer;
        fn vkDestroyBuffer: PFN_vkDestroyBuffer;
        fn vkGetBufferMemoryRequirements: PFN_vkGetBufferMemoryRequirements;
        fn vkBindBufferMemory: PFN_vkBindBufferMemory;
        fn vkCreateFence: PFN_vkCreateFence;
        fn vkResetFences: PFN_vkResetFences;
        fn vkGetFenceStatus: PFN_vkGetFenceStatus;
        fn vkWaitForFences: PFN_vkWaitForFences;
        fn vkCreateShaderModule: PFN_vkCreateShaderModule;
        fn vkDestroyShaderModule: PFN_vkDestroyShaderModule;
        fn vkCreateDescriptorSetLayout: PFN_vkCreateDescriptorSetLayout;
        fn vkDestroyDescriptorSetLayout: PFN_vkDestroyDescriptorSetLayout;
        fn vkCreatePipelineLayout: PFN_vkCreatePipelineLayout;
        fn vkDestroyPipelineLayout: PFN_vkDestroyPipelineLayout;
        fn vkCreateComputePipelines: PFN_vkCreateComputePipelines;
        fn vkDestroyPipeline: PFN_vkDestroyPipeline;
        fn vkCreateDescriptorPool: PFN_vkCreateDescriptorPool;
        fn vkDestroyDescriptorPool: PFN_vkDestroyDescriptorPool;
        fn vkAllocateDescriptorSets: PFN_vkAllocateDescriptorSets;
        fn vkUpdateDescriptorSets: PFN_vkUpdateDescriptorSets;
        fn vkCreateCommandPool: PFN_vkCreateCommandPool;
        fn vkResetCommandPool: PFN_vkResetCommandPool;
        fn vkAllocateCommandBuffers: PFN_vkAllocateCommandBuffers;
        fn vkBeginCommandBuffer: PFN_vkBeginCommandBuffer;
        fn vkEndCommandBuffer: PFN_vkEndCommandBuffer;
        fn vkCmdBindPipeline: PFN_vkCmdBindPipeline;
        fn vkCmdBindDescriptorSets: PFN_vkCmdBindDescriptorSets;
        fn vkCmdPushConstants: PFN_vkCmdPushConstants;
        fn vkCmdDispatch: PFN_vkCmdDispatch;
        fn vkCmdCopyBuffer: PFN_vkCmdCopyBuffer;
        fn vkCmdPipelineBarrier: PFN_vkCmdPipelineBarrier;
        optional fn vkCreateDescriptorUpdateTemplate: PFN_vkCreateDescriptorUpdateTemplate;
        optional fn vkDestroyDescriptorUpdateTemplate: PFN_vkDestroyDescriptorUpdateTemplate;
        optional fn vkCmdPushDescriptorSetWithTemplateKHR: PFN_vkCmdPushDescriptorSetWithTemplateKHR;
    }
}

impl LoaderApi {
    /// Looks up the functions of the loader.
    ///
    /// # Errors
    /// RuntimeError if a function is missing.
    ///
    /// # Safety
    /// `get` must be `vkGetInstanceProcAddr` of a loader.
    pub(super) unsafe fn of_loader(get: vk::PFN_vkGetInstanceProcAddr) -> Result<LoaderApi> {
        // SAFETY: the caller guarantees `get`; these functions need no instance.
        unsafe { LoaderApi::load(&|name| get(vk::Instance::null(), name.as_ptr())) }
    }
}

impl InstanceApi {
    /// Looks up the functions of an instance.
    ///
    /// # Errors
    /// RuntimeError if a function is missing.
    ///
    /// # Safety
    /// `get` must be `vkGetInstanceProcAddr` of the loader that created the instance.
    pub(super) unsafe fn of_instance(
        get: vk::PFN_vkGetInstanceProcAddr,
        instance: vk::Instance,
    ) -> Result<InstanceApi> {
        // SAFETY: the caller guarantees `get` and the instance.
        unsafe { InstanceApi::load(&|name| get(instance, name.as_ptr())) }
    }
}

impl DeviceApi {
    /// Looks up the functions of a device.
    ///
    /// # Errors
    /// RuntimeError if a function is missing.
    ///
    /// # Safety
    /// The device must belong to the instance.
    pub(super) unsafe fn of_device(
        instance: &InstanceApi,
        device: vk::Device,
    ) -> Result<DeviceApi> {
        // SAFETY: the caller guarantees the device.
        unsafe { DeviceApi::load(&|name| (instance.vkGetDeviceProcAddr)(device, name.as_ptr())) }
    }
}
