//! The CUDA driver, its devices, and each thread's current device: the device of its current
//! context. Each device is used through its primary context, as in the CUDA runtime API, so that
//! memory and streams can be shared with PyTorch and JAX.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;

use super::api::{Api, Handle};
use super::device::Device;
use super::failure::made;
use crate::driver::MAX_DEVICES;
use crate::forks;
use crate::owned::Owned;

/// The driver and its devices; created once and never freed.
pub(super) struct Platform {
    pub(super) api: &'static Api,
    devices: Buffer<Device>,
}

static PLATFORM: AtomicPtr<Platform> = AtomicPtr::new(ptr::null_mut());

/// Returns the driver; opens it on first use.
///
/// # Errors
/// RuntimeError if the driver is not installed, and in a forked child; CUDAError if it fails or
/// finds no device.
#[inline]
pub(super) fn platform() -> Result<&'static Platform> {
    forks::check()?;
    // SAFETY: null, or created by `open` and never freed.
    match unsafe { PLATFORM.load(Ordering::Acquire).as_ref() } {
        Some(platform) => Ok(platform),
        None => open(),
    }
}

/// Opens the driver. After a failure only the library stays open, and the next call tries again.
#[cold]
fn open() -> Result<&'static Platform> {
    static OPENING: Mutex<Option<&'static Api>> = Mutex::new(None);
    forks::begin_use()?;
    let mut api = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as in `platform`.
    if let Some(platform) = unsafe { PLATFORM.load(Ordering::Acquire).as_ref() } {
        return Ok(platform);
    }
    let api = match *api {
        Some(api) => api,
        // SAFETY: the table is never freed, and the library never closed.
        None => api.insert(unsafe { Owned::new(Api::open()?)?.into_raw().as_ref() }),
    };
    let platform = Owned::new(Platform { api, devices: find_devices(api)? })?.into_raw();
    PLATFORM.store(platform.as_ptr(), Ordering::Release);
    // SAFETY: just created, and never freed.
    Ok(unsafe { platform.as_ref() })
}

fn find_devices(api: &'static Api) -> Result<Buffer<Device>> {
    let mut count = 0;
    // SAFETY: the driver writes the number.
    unsafe {
        made!(api, cuInit(0))?;
        made!(api, cuDeviceGetCount(&mut count))?;
    }
    let mut devices = Buffer::new();
    for id in 0..count.min(MAX_DEVICES as i32) {
        let mut number = 0;
        // SAFETY: as above.
        unsafe { made!(api, cuDeviceGet(&mut number, id))? };
        devices.try_push(Device::new(api, id, number))?;
    }
    Ok(devices)
}

impl Platform {
    /// Returns all devices.
    pub(super) fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the device with this id.
    ///
    /// # Errors
    /// ValueError if there is none.
    #[inline]
    pub(super) fn device(&self, id: i32) -> Result<&Device> {
        let device = usize::try_from(id).ok().and_then(|index| self.devices.get(index));
        device.ok_or_else(|| self.invalid_id(id))
    }

    #[cold]
    fn invalid_id(&self, id: i32) -> Error {
        plain_error!(
            VALUE_ERROR,
            "Invalid CUDA device_id={}: there are {} devices",
            id,
            self.devices.len()
        )
    }
}

/// Returns the device with this id.
///
/// # Errors
/// Same errors as [`platform`] and [`Platform::device`].
#[inline]
pub(super) fn device(id: i32) -> Result<&'static Device> {
    platform()?.device(id)
}

/// Returns the device of the current context, or device 0 if there is none. Makes its primary
/// context current.
///
/// # Errors
/// Same errors as [`platform`]; errors of the driver.
#[inline]
pub(super) fn current_device() -> Result<&'static Device> {
    let platform = platform()?;
    let mut context = ptr::null_mut();
    // SAFETY: the driver writes the handle.
    unsafe { made!(platform.api, cuCtxGetCurrent(&mut context))? };
    match platform.devices.iter().find(|device| device.has_context(context)) {
        Some(device) => Ok(device),
        None => enter_primary(platform, context),
    }
}

/// Makes a primary context current if no context is current, or if the current one belongs to
/// another library. Returns its device.
#[cold]
fn enter_primary(platform: &'static Platform, context: Handle) -> Result<&'static Device> {
    let device = if context.is_null() {
        platform.device(0)?
    } else {
        let mut number = 0;
        // SAFETY: the driver writes the number of the current context's device.
        unsafe { made!(platform.api, cuCtxGetDevice(&mut number))? };
        match platform.devices.iter().find(|device| device.number == number) {
            Some(device) => device,
            None => platform.device(number)?,
        }
    };
    device.make_current()?;
    Ok(device)
}
