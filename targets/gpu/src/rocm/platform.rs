//! The driver with its devices, and the current device of a thread, which is HIP's own.

use core::cell::Cell;

use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error};

use super::api::Api;
use super::memory::{Memory, Pinned};
use crate::driver::MAX_DEVICES;
use crate::open_once::OpenOnce;
use crate::workspace::Workspaces;

/// The driver and its devices.
pub(super) struct Platform {
    pub(super) api: Api,
    devices: Buffer<Device>,
}

/// A device with the workspaces that it keeps.
pub(super) struct Device {
    pub(super) memory: Memory,
    pub(super) workspaces: Workspaces,
    pub(super) pinned: Pinned,
    pub(super) pinned_workspaces: Workspaces,
}

static PLATFORM: OpenOnce<Platform> = OpenOnce::new();

std::thread_local! {
    /// The device that has to be current again, after a failure to make it so.
    static DISPLACED: Cell<Option<i32>> = const { Cell::new(None) };
}

/// The driver of this process.
///
/// # Errors
/// RuntimeError when the driver is not installed, and in a forked child; InternalError when there is no device.
#[inline]
pub(super) fn platform() -> Result<&'static Platform> {
    PLATFORM.get(Platform::open)
}

/// The driver, and `id` as the current device until the result is dropped.
///
/// # Errors
/// As [`platform`]; ValueError when there is no such device.
pub(super) fn on(id: i32) -> Result<OnDevice> {
    let platform = platform()?;
    platform.device(id)?;
    let previous = platform.current_device()?;
    if previous != id {
        platform.select(id)?;
    }
    Ok(OnDevice { platform, previous, id })
}

impl Platform {
    fn open() -> Result<Platform> {
        let api = Api::open()?;
        let mut device_count = 0;
        // The number first: without a device, `hipInit` of ROCm 5 calls this an invalid ordinal.
        // SAFETY: the driver writes the number; no flags are defined.
        unsafe {
            api.check("hipGetDeviceCount", (api.hipGetDeviceCount)(&mut device_count))?;
            api.check("hipInit", (api.hipInit)(0))?;
        }
        plain_ensure!(device_count > 0, INTERNAL_ERROR, "ROCM HIP Error: there is no device");
        let mut devices = Buffer::new();
        for id in 0..device_count.min(MAX_DEVICES as i32) {
            devices.try_push(Device {
                memory: Memory { id },
                workspaces: Workspaces::new(),
                pinned: Pinned { id },
                pinned_workspaces: Workspaces::new(),
            })?;
        }
        Ok(Platform { api, devices })
    }

    /// The device of that id.
    ///
    /// # Errors
    /// ValueError when there is none.
    pub(super) fn device(&self, id: i32) -> Result<&Device> {
        match usize::try_from(id).ok().and_then(|index| self.devices.get(index)) {
            Some(device) => Ok(device),
            None => Err(self.invalid_id(id)),
        }
    }

    #[cold]
    fn invalid_id(&self, id: i32) -> Error {
        plain_error!(VALUE_ERROR, "Invalid ROCm device_id={}: there are {} devices", id, self.devices.len())
    }

    /// The device on which this thread works.
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

    /// Makes a device the one on which this thread works.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn select(&self, id: i32) -> Result<()> {
        // SAFETY: any number may be given.
        self.api.check_done("hipSetDevice", unsafe { (self.api.hipSetDevice)(id) })?;
        DISPLACED.set(None);
        Ok(())
    }
}

/// A device that is current for a while; then the one before is.
pub(super) struct OnDevice {
    pub(super) platform: &'static Platform,
    previous: i32,
    id: i32,
}

impl OnDevice {
    /// The driver's functions.
    pub(super) fn api(&self) -> &'static Api {
        &self.platform.api
    }
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        if self.previous != self.id && self.platform.select(self.previous).is_err() {
            // The next operation of this thread tries again, and reports a failure.
            DISPLACED.set(Some(self.previous));
        }
    }
}
