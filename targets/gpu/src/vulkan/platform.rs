//! Selection of Vulkan devices: all adapters, discrete GPUs first.
//!
//! `FERRITE_VULKAN_DEVICE` selects adapters by a part of their name, ignoring case. Each adapter's
//! device is opened on its first use.

use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error, plain_warn};

use super::adapter::{self, Adapter};
use super::api::{InstanceApi, LoaderApi};
use super::device::Device;
use super::failure::{check, raise};
use crate::driver::MAX_DEVICES;
use crate::forks;
use crate::library::{DriverLibrary, c_name};
use crate::owned::Owned;
use crate::variable;

const CHOICE: &CStr = c"FERRITE_VULKAN_DEVICE";

/// The Vulkan instance and the selected adapters. Created once and never freed.
pub(super) struct Platform {
    pub(super) instance: Instance,
    slots: Buffer<Slot>,
}

/// An adapter, and its device: null until opened.
struct Slot {
    adapter: Adapter,
    device: AtomicPtr<Device>,
}

/// A Vulkan instance with its functions.
pub(super) struct Instance {
    pub(super) api: InstanceApi,
    handle: vk::Instance,
}

static PLATFORM: AtomicPtr<Platform> = AtomicPtr::new(ptr::null_mut());

/// Held while the driver or a device is opened. A forked child never takes it, see [`forks`].
static OPENING: Mutex<()> = Mutex::new(());

/// Address of the user's `vkGetInstanceProcAddr`; null selects the system's loader.
static GIVEN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Selects a loader by its `vkGetInstanceProcAddr`, for programs that link or wrap one. The
/// system's `libvulkan.so.1` is then not opened. Must be called before the first use of a device.
///
/// # Safety
/// The function must be a `vkGetInstanceProcAddr` until the process ends: the functions that it
/// returns are called.
pub unsafe fn use_loader(get: vk::PFN_vkGetInstanceProcAddr) {
    GIVEN.store(get as *mut c_void, Ordering::Release);
}

fn loader() -> Result<vk::PFN_vkGetInstanceProcAddr> {
    let mut address = GIVEN.load(Ordering::Acquire);
    if address.is_null() {
        let library = DriverLibrary::open(&[c"libvulkan.so.1"])?;
        address = library.function(c_name!(vkGetInstanceProcAddr))?.as_ptr();
    }
    // SAFETY: the address is that of a function of this type: found by name in the loader, or
    // passed to `use_loader`.
    Ok(unsafe { core::mem::transmute::<*mut c_void, vk::PFN_vkGetInstanceProcAddr>(address) })
}

/// Returns the device with this id.
///
/// # Errors
/// RuntimeError if the driver is not installed, and in a forked child; InternalError if there is no
/// device with this id; errors of the driver.
#[inline]
pub(super) fn device(id: i32) -> Result<&'static Device> {
    let (platform, slot) = slot(id)?;
    // SAFETY: null, or created by `open_device` and never freed.
    match unsafe { slot.device.load(Ordering::Acquire).as_ref() } {
        Some(device) => Ok(device),
        None => open_device(platform, slot),
    }
}

/// Returns the adapter with this id.
///
/// # Errors
/// Same errors as [`device`].
pub(super) fn adapter(id: i32) -> Result<&'static Adapter> {
    slot(id).map(|(_, slot)| &slot.adapter)
}

#[inline]
fn slot(id: i32) -> Result<(&'static Platform, &'static Slot)> {
    forks::check()?;
    // SAFETY: null, or created by `open` and never freed.
    let platform = match unsafe { PLATFORM.load(Ordering::Acquire).as_ref() } {
        Some(platform) => platform,
        None => open()?,
    };
    match usize::try_from(id).ok().and_then(|index| platform.slots.get(index)) {
        Some(slot) => Ok((platform, slot)),
        None => Err(invalid_id(id)),
    }
}

#[cold]
fn invalid_id(id: i32) -> Error {
    plain_error!(INTERNAL_ERROR, "Invalid Vulkan device_id={}. ", id)
}

#[cold]
fn open_device(platform: &'static Platform, slot: &'static Slot) -> Result<&'static Device> {
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as in `device`.
    if let Some(device) = unsafe { slot.device.load(Ordering::Acquire).as_ref() } {
        return Ok(device);
    }
    let device = Owned::new(Device::open(&platform.instance, &slot.adapter)?)?.into_raw();
    slot.device.store(device.as_ptr(), Ordering::Release);
    // SAFETY: just created, and never freed.
    Ok(unsafe { device.as_ref() })
}

/// Opens the driver. A failure leaves no state behind: the next call tries again.
#[cold]
fn open() -> Result<&'static Platform> {
    forks::begin_use()?;
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as in `slot`.
    if let Some(platform) = unsafe { PLATFORM.load(Ordering::Acquire).as_ref() } {
        return Ok(platform);
    }
    let (instance, version) = Instance::create(loader()?)?;
    let slots = find_adapters(&instance, version)?;
    let platform = Owned::new(Platform { instance, slots })?.into_raw();
    PLATFORM.store(platform.as_ptr(), Ordering::Release);
    // SAFETY: just created, and never freed.
    Ok(unsafe { platform.as_ref() })
}

impl Instance {
    /// Creates an instance of the newest version that the loader supports, up to 1.3. Returns the
    /// instance and the version.
    fn create(get: vk::PFN_vkGetInstanceProcAddr) -> Result<(Instance, u32)> {
        // SAFETY: the function belongs to a loader.
        let api = unsafe { LoaderApi::of_loader(get)? };
        let mut version = vk::API_VERSION_1_0;
        if let Some(ask) = api.vkEnumerateInstanceVersion {
            // SAFETY: the driver writes the number.
            raise(check(unsafe { ask(&mut version) }))?;
        }
        let version = version.min(vk::API_VERSION_1_3);
        let application = vk::ApplicationInfo::default()
            .application_name(c"tvm")
            .engine_name(c"ferrite")
            .api_version(version);
        let wanted = vk::InstanceCreateInfo::default().application_info(&application);
        let mut handle = vk::Instance::null();
        // SAFETY: the record is initialised; the driver writes the handle.
        raise(check(unsafe { (api.vkCreateInstance)(&wanted, ptr::null(), &mut handle) }))?;
        // SAFETY: the instance belongs to this loader.
        match unsafe { InstanceApi::of_instance(get, handle) } {
            Ok(api) => Ok((Instance { api, handle }, version)),
            Err(error) => {
                // SAFETY: every loader has this function for every instance, and the instance is
                // owned.
                unsafe {
                    if let Some(destroy) = get(handle, c_name!(vkDestroyInstance).as_ptr()) {
                        let destroy: vk::PFN_vkDestroyInstance = core::mem::transmute(destroy);
                        destroy(handle, ptr::null());
                    }
                }
                Err(error)
            }
        }
    }
}

impl Instance {
    /// Destroys a device whose function table could not be loaded.
    ///
    /// # Safety
    /// The device must belong to the instance and be unused.
    pub(super) unsafe fn destroy_device(&self, device: vk::Device) {
        let name = c_name!(vkDestroyDevice);
        // SAFETY: the caller guarantees the device; the function has this type.
        unsafe {
            if let Some(destroy) = (self.api.vkGetDeviceProcAddr)(device, name.as_ptr()) {
                let destroy: vk::PFN_vkDestroyDevice = core::mem::transmute(destroy);
                destroy(device, ptr::null());
            }
        }
    }
}

impl Drop for Instance {
    /// Destroys the instance. An instance with devices is never dropped.
    fn drop(&mut self) {
        // SAFETY: the instance is owned, and nothing of it is in use.
        unsafe { (self.api.vkDestroyInstance)(self.handle, ptr::null()) };
    }
}

/// Returns the selected adapters, in order.
fn find_adapters(instance: &Instance, version: u32) -> Result<Buffer<Slot>> {
    let physical = adapter::physical_devices(&instance.api, instance.handle)?;
    let mut slots = Buffer::new();
    for each in physical.iter() {
        if let Some(adapter) = Adapter::new(&instance.api, *each, version)? {
            slots.try_push(Slot { adapter, device: AtomicPtr::new(ptr::null_mut()) })?;
        }
    }
    plain_ensure!(
        !slots.is_empty(),
        INTERNAL_ERROR,
        "No Vulkan device: {} were looked at",
        physical.len()
    );
    if let Some(choice) = variable::get(CHOICE) {
        slots.retain(|slot| variable::contains(slot.adapter.name(), choice));
        plain_ensure!(
            !slots.is_empty(),
            INTERNAL_ERROR,
            "No Vulkan device has {} in its name",
            choice
        );
    }
    sort(&mut slots);
    slots.truncate(MAX_DEVICES);
    if slots
        .first()
        .is_some_and(|first| first.adapter.properties.device_type == vk::PhysicalDeviceType::CPU)
    {
        plain_warn!("No Vulkan device is a GPU: kernels run on the CPU");
    }
    Ok(slots)
}

/// Sorts adapters by rank. Adapters of the same type stay in the driver's order.
fn sort(slots: &mut Buffer<Slot>) {
    let slots = slots.as_mut_slice();
    for end in 1..slots.len() {
        let mut at = end;
        while at > 0 && slots[at].adapter.rank() < slots[at - 1].adapter.rank() {
            slots.swap(at, at - 1);
            at -= 1;
        }
    }
}
