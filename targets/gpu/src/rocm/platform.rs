//! The HIP driver, its devices, and each thread's current device, which HIP itself stores.

use core::cell::Cell;

use ferrite_alloc_ext::env::stream;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_ensure, plain_error};

use super::api::{Api, Handle, PoolApi};
use crate::allocation::Pool;
use crate::driver::MAX_DEVICES;
use crate::open_once::OpenOnce;
use crate::workspace::Workspaces;

/// The driver and its devices.
pub(super) struct Platform {
    pub(super) api: Api,
    /// Functions of memory pools; `None` if the driver is too old.
    pub(super) pool_api: Option<PoolApi>,
    devices: Buffer<Device>,
}

/// The pools of a device: of tensors and of workspaces.
pub(super) struct Device {
    pub(super) pool: Pool,
    pub(super) workspaces: Workspaces,
    pub(super) pinned_workspaces: Workspaces,
}

static PLATFORM: OpenOnce<Platform> = OpenOnce::new();

std::thread_local! {
    /// Device to make current again, if the last attempt to restore it failed.
    static DISPLACED: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Returns the driver; opens it on first use.
///
/// # Errors
/// RuntimeError if the driver is not installed, and in a forked child; InternalError if there is no
/// device.
#[inline]
pub(super) fn platform() -> Result<&'static Platform> {
    PLATFORM.get(Platform::open)
}

/// Makes device `id` current until the result is dropped.
///
/// # Errors
/// Same errors as [`platform`]; ValueError if there is no such device.
pub(super) fn on(id: i32) -> Result<OnDevice> {
    let platform = platform()?;
    let device = platform.device(id)?;
    let previous = platform.current_device()?;
    if previous != id {
        platform.select(id)?;
    }
    Ok(OnDevice { platform, device, previous, id })
}

/// Makes device `id` current to release a resource. Returns `None` if that fails.
pub(super) fn on_to_release(id: i32) -> Option<OnDevice> {
    on(id).ok().or_else(|| {
        let platform = platform().ok()?;
        let device = platform.device(id).ok()?;
        // The previous device is unknown, so it cannot be restored.
        platform.select(id).ok()?;
        Some(OnDevice { platform, device, previous: id, id })
    })
}

/// Returns the calling thread's stream, set by `TVMFFIEnvSetStream`; null is the default stream.
#[inline]
pub(super) fn current_stream(id: i32) -> Handle {
    stream::get(stream::DeviceKey::new(kind::ROCM, id))
}

impl Platform {
    fn open() -> Result<Platform> {
        let api = Api::open()?;
        let mut device_count = 0;
        // The device count comes first: without a device, `hipInit` of ROCm 5 reports an invalid
        // ordinal.
        // SAFETY: the driver writes the number; no flags are defined.
        unsafe {
            api.check("hipGetDeviceCount", (api.hipGetDeviceCount)(&mut device_count))?;
            api.check("hipInit", (api.hipInit)(0))?;
        }
        plain_ensure!(device_count > 0, INTERNAL_ERROR, "ROCM HIP Error: there is no device");
        let mut devices = Buffer::new();
        for _ in 0..device_count.min(MAX_DEVICES as i32) {
            devices.try_push(Device {
                pool: Pool::new(),
                workspaces: Workspaces::new(),
                pinned_workspaces: Workspaces::new(),
            })?;
        }
        Ok(Platform { api, pool_api: PoolApi::open().ok(), devices })
    }

    /// Returns the device with this id.
    ///
    /// # Errors
    /// ValueError if there is none.
    pub(super) fn device(&self, id: i32) -> Result<&Device> {
        match usize::try_from(id).ok().and_then(|index| self.devices.get(index)) {
            Some(device) => Ok(device),
            None => Err(self.invalid_id(id)),
        }
    }

    #[cold]
    fn invalid_id(&self, id: i32) -> Error {
        plain_error!(
            VALUE_ERROR,
            "Invalid ROCm device_id={}: there are {} devices",
            id,
            self.devices.len()
        )
    }

    /// Returns the current device of the calling thread.
    ///
    /// # Errors
    /// Errors of the driver.
    #[inline]
    pub(super) fn current_device(&self) -> Result<i32> {
        if let Some(id) = DISPLACED.get() {
            self.select(id)?;
        }
        let mut id = 0;
        // SAFETY: the driver writes the id.
        self.api.check_done("hipGetDevice", unsafe { (self.api.hipGetDevice)(&mut id) })?;
        Ok(id)
    }

    /// Makes a device current on the calling thread.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn select(&self, id: i32) -> Result<()> {
        // SAFETY: any number may be passed.
        self.api.check_done("hipSetDevice", unsafe { (self.api.hipSetDevice)(id) })?;
        DISPLACED.set(None);
        Ok(())
    }
}

/// Guard of a current device: restores the previous device when dropped.
pub(super) struct OnDevice {
    pub(super) platform: &'static Platform,
    pub(super) device: &'static Device,
    previous: i32,
    pub(super) id: i32,
}

impl OnDevice {
    /// Returns the device's pool of memory.
    pub(super) fn pool(&self) -> &'static Pool {
        &self.device.pool
    }

    /// Returns the driver's functions.
    pub(super) fn api(&self) -> &'static Api {
        &self.platform.api
    }
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        if self.previous != self.id && self.platform.select(self.previous).is_err() {
            // The thread's next operation tries again, and reports a failure.
            DISPLACED.set(Some(self.previous));
        }
    }
}
