//! Selection of WebGPU adapters and their devices: discrete GPUs first, then integrated and virtual
//! GPUs, then CPUs.
//!
//! `FERRITE_WEBGPU_ADAPTER` selects adapters by a part of their name, ignoring case.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::unwind;
use ferrite_core::{plain_bail, plain_error};

use super::device::{Device, now};
use crate::driver::MAX_DEVICES;
use crate::forks;
use crate::owned::Owned;
use crate::variable;

const CHOICE: &CStr = c"FERRITE_WEBGPU_ADAPTER";

/// An adapter, and its device once opened.
struct Slot {
    id: i32,
    adapter: wgpu::Adapter,
    device: AtomicPtr<Device>,
}

/// Selected adapters; created once and never freed.
static ADAPTERS: AtomicPtr<Buffer<Slot>> = AtomicPtr::new(ptr::null_mut());

/// Held while adapters are enumerated and while a device is opened.
static OPENING: Mutex<()> = Mutex::new(());

/// Returns the device with this id.
///
/// # Errors
/// RuntimeError if no driver is installed, and in a forked child; InternalError if there is no
/// adapter with this id.
#[inline]
pub(super) fn device(id: i32) -> Result<&'static Device> {
    forks::check()?;
    let slot = match adapters() {
        Some(adapters) => slot(adapters, id)?,
        None => slot(find()?, id)?,
    };
    match slot.device() {
        Some(device) => Ok(device),
        None => slot.open(),
    }
}

fn adapters() -> Option<&'static Buffer<Slot>> {
    // SAFETY: null, or created by `find` and never freed.
    unsafe { ADAPTERS.load(Ordering::Acquire).as_ref() }
}

fn slot(adapters: &'static Buffer<Slot>, id: i32) -> Result<&'static Slot> {
    match usize::try_from(id).ok().and_then(|index| adapters.get(index)) {
        Some(slot) => Ok(slot),
        None => plain_bail!(INTERNAL_ERROR, "Invalid WebGPU device_id={}. ", id),
    }
}

impl Slot {
    fn device(&self) -> Option<&'static Device> {
        // SAFETY: null, or created by `open` and never freed.
        unsafe { self.device.load(Ordering::Acquire).as_ref() }
    }

    /// Opens the adapter's device. A failure leaves no state behind: the next call tries again.
    #[cold]
    fn open(&self) -> Result<&'static Device> {
        let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = self.device() {
            return Ok(device);
        }
        let device =
            Owned::new(unwind::catch(|| Device::open(self.id, &self.adapter))?)?.into_raw();
        self.device.store(device.as_ptr(), Ordering::Release);
        // SAFETY: just created, and never freed.
        Ok(unsafe { device.as_ref() })
    }
}

/// Enumerates the adapters. A failure leaves no state behind: the next call tries again.
#[cold]
fn find() -> Result<&'static Buffer<Slot>> {
    forks::begin_use()?;
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(adapters) = adapters() {
        return Ok(adapters);
    }
    let adapters = Owned::new(unwind::catch(choose)?)?.into_raw();
    ADAPTERS.store(adapters.as_ptr(), Ordering::Release);
    // SAFETY: just created, and never freed.
    Ok(unsafe { adapters.as_ref() })
}

/// Returns the selected adapters, in order.
fn choose() -> Result<Buffer<Slot>> {
    let descriptor = wgpu::InstanceDescriptor {
        backends: wgpu::Backends::PRIMARY,
        // No validation layers, even in debug builds, since wgpu validates itself.
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    };
    let mut adapters =
        now(wgpu::Instance::new(descriptor).enumerate_adapters(wgpu::Backends::PRIMARY))?;
    if adapters.is_empty() {
        return Err(missing());
    }
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    let choice = variable::get(CHOICE).unwrap_or_default();
    let (mut chosen, mut names) = (Buffer::new(), Buffer::new());
    for adapter in adapters {
        let name = adapter.get_info().name;
        if !names.is_empty() {
            names.try_extend_from_slice(b", ")?;
        }
        names.try_extend_from_slice(name.as_bytes())?;
        if chosen.len() < MAX_DEVICES && variable::contains(name.as_bytes(), choice) {
            let id = chosen.len() as i32;
            chosen.try_push(Slot { id, adapter, device: AtomicPtr::new(ptr::null_mut()) })?;
        }
    }
    if chosen.is_empty() {
        plain_bail!(
            INTERNAL_ERROR,
            "No WebGPU adapter has {} in its name: there are {}",
            choice,
            &*names
        );
    }
    Ok(chosen)
}

fn rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

/// Returns the error for a machine without adapters.
#[cfg(not(target_os = "linux"))]
fn missing() -> Error {
    plain_error!(RUNTIME_ERROR, "No WebGPU adapter: the system has no driver for a GPU")
}

/// Returns the error for a machine without adapters: the Vulkan loader is missing, or it has no
/// driver.
#[cfg(target_os = "linux")]
fn missing() -> Error {
    match crate::library::DriverLibrary::open(&[c"libvulkan.so.1"]) {
        Err(error) => plain_error!(
            RUNTIME_ERROR,
            "No WebGPU adapter: {}. On Debian: apt-get install libvulkan1 mesa-vulkan-drivers",
            error.message_bytes()
        ),
        Ok(_) => plain_error!(
            RUNTIME_ERROR,
            "No WebGPU adapter: libvulkan.so.1 is installed, but no Vulkan driver of a device answers. Install that of \
             the GPU; on Debian, mesa-vulkan-drivers has many, and one for CPUs"
        ),
    }
}
