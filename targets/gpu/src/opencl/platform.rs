//! Selection of OpenCL devices: the GPUs of all platforms, or CPUs if there is no GPU.
//!
//! `FERRITE_OPENCL_PLATFORM` selects platforms by a part of their name, ignoring case.

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error, plain_warn};

use super::api::{self, Api, Handle};
use super::device::Device;
use super::failure;
use super::info::info;
use crate::driver::MAX_DEVICES;
use crate::forks;
use crate::owned::Owned;
use crate::variable;

const CHOICE: &CStr = c"FERRITE_OPENCL_PLATFORM";

/// The driver and the selected devices; created once and never freed.
struct Platform {
    devices: Buffer<Device>,
}

static PLATFORM: AtomicPtr<Platform> = AtomicPtr::new(ptr::null_mut());

/// Returns the device with this id.
///
/// # Errors
/// RuntimeError if the driver is not installed, and in a forked child; InternalError if there is no
/// device with this id.
#[inline]
pub(super) fn device(id: i32) -> Result<&'static Device> {
    forks::check()?;
    // SAFETY: null, or created by `open` and never freed.
    let platform = match unsafe { PLATFORM.load(Ordering::Acquire).as_ref() } {
        Some(platform) => platform,
        None => open()?,
    };
    match usize::try_from(id).ok().and_then(|index| platform.devices.get(index)) {
        Some(device) => Ok(device),
        None => Err(invalid_id(id)),
    }
}

#[cold]
fn invalid_id(id: i32) -> Error {
    plain_error!(INTERNAL_ERROR, "Invalid OpenCL device_id={}. ", id)
}

/// Opens the driver. A failure leaves no state behind: the next call tries again.
#[cold]
fn open() -> Result<&'static Platform> {
    static OPENING: Mutex<()> = Mutex::new(());
    forks::begin_use()?;
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as in `device`.
    if let Some(platform) = unsafe { PLATFORM.load(Ordering::Acquire).as_ref() } {
        return Ok(platform);
    }
    // SAFETY: the driver's table is never freed, and its library never closed.
    let api: &'static Api = unsafe { Owned::new(Api::open()?)?.into_raw().as_ref() };
    let platform = Owned::new(Platform { devices: find_devices(api)? })?;
    let platform = platform.into_raw();
    PLATFORM.store(platform.as_ptr(), Ordering::Release);
    // SAFETY: just created, and never freed.
    Ok(unsafe { platform.as_ref() })
}

fn find_devices(api: &'static Api) -> Result<Buffer<Device>> {
    let platforms = platforms(api)?;
    let mut devices = devices_of_kind(api, &platforms, api::DEVICE_TYPE_GPU)?;
    if devices.is_empty() {
        devices = devices_of_kind(api, &platforms, api::DEVICE_TYPE_CPU)?;
        if !devices.is_empty() {
            plain_warn!("No OpenCL device is a GPU: kernels run on the CPU");
        }
    }
    plain_ensure!(
        !devices.is_empty(),
        INTERNAL_ERROR,
        "No OpenCL device: {} platforms were looked at",
        platforms.len()
    );
    Ok(devices)
}

/// Returns the selected platforms.
fn platforms(api: &Api) -> Result<Buffer<Handle>> {
    let mut count = 0;
    // SAFETY: the driver writes the number.
    match unsafe { (api.clGetPlatformIDs)(0, ptr::null_mut(), &mut count) } {
        api::PLATFORM_NOT_FOUND => count = 0,
        status => failure::check(status)?,
    }
    let mut platforms = Buffer::new();
    platforms.try_resize(count as usize, ptr::null_mut())?;
    if count != 0 {
        let out = platforms.as_mut_slice().as_mut_ptr();
        // SAFETY: the list has `count` elements.
        failure::check(unsafe { (api.clGetPlatformIDs)(count, out, ptr::null_mut()) })?;
    }
    let Some(choice) = variable::get(CHOICE) else { return Ok(platforms) };
    let mut chosen = Buffer::new();
    for platform in platforms.iter() {
        let name = info(|size, value, written| {
            // SAFETY: the driver writes at most `size` bytes.
            unsafe { (api.clGetPlatformInfo)(*platform, api::PLATFORM_NAME, size, value, written) }
        })?;
        if variable::contains(&name, choice) {
            chosen.try_push(*platform)?;
        }
    }
    plain_ensure!(
        !chosen.is_empty(),
        INTERNAL_ERROR,
        "No OpenCL platform has {} in its name",
        choice
    );
    Ok(chosen)
}

/// Returns the devices of a type, such as GPUs, on these platforms that support OpenCL 1.2 or
/// later.
fn devices_of_kind(api: &'static Api, platforms: &[Handle], kind: u64) -> Result<Buffer<Device>> {
    let mut devices = Buffer::new();
    for platform in platforms {
        let mut count = 0;
        // SAFETY: the driver writes the number.
        match unsafe { (api.clGetDeviceIDs)(*platform, kind, 0, ptr::null_mut(), &mut count) } {
            api::DEVICE_NOT_FOUND => continue,
            status => failure::check(status)?,
        }
        let mut found = Buffer::new();
        found.try_resize(count as usize, ptr::null_mut())?;
        let out = found.as_mut_slice().as_mut_ptr();
        // SAFETY: the list has `count` elements.
        failure::check(unsafe {
            (api.clGetDeviceIDs)(*platform, kind, count, out, ptr::null_mut())
        })?;
        for id in found.iter() {
            if devices.len() < MAX_DEVICES && Device::is_recent(api, *id)? {
                devices.try_push(Device::new(api, *id)?)?;
            }
        }
    }
    Ok(devices)
}
