//! Metal on Apple platforms: the devices listed by the framework.
//!
//! `FERRITE_METAL_DEVICE` selects devices by a part of their name, ignoring case.

mod attributes;
mod device;
mod event;
mod failure;
mod kernel;
mod stream;

use core::ffi::CStr;

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_ensure, plain_error};
use objc2::rc::autoreleasepool;
use objc2_metal::{MTLCopyAllDevices, MTLDevice};

use crate::driver::MAX_DEVICES;
use crate::open_once::OpenOnce;
use crate::variable;

pub use device::Device;
pub(super) use event::{free_event, synchronize_event};
pub use kernel::Kernel;

const CHOICE: &CStr = c"FERRITE_METAL_DEVICE";

static DEVICES: OpenOnce<Buffer<Device>> = OpenOnce::new();

/// Returns the device with this id.
///
/// # Errors
/// InternalError if there is none; RuntimeError in a forked child.
pub(super) fn device(id: i32) -> Result<&'static Device> {
    let devices = DEVICES.get(open)?;
    match usize::try_from(id).ok().and_then(|index| devices.get(index)) {
        Some(device) => Ok(device),
        None => Err(invalid_id(id)),
    }
}

#[cold]
fn invalid_id(id: i32) -> Error {
    plain_error!(INTERNAL_ERROR, "Invalid Metal device_id={}. ", id)
}

fn open() -> Result<Buffer<Device>> {
    let choice = variable::get(CHOICE).unwrap_or_default();
    let devices = autoreleasepool(|_| chosen(choice))?;
    plain_ensure!(
        !devices.is_empty() || choice.is_empty(),
        INTERNAL_ERROR,
        "No Metal device has {} in its name, which FERRITE_METAL_DEVICE asks for",
        choice
    );
    plain_ensure!(!devices.is_empty(), INTERNAL_ERROR, "No Metal device");
    Ok(devices)
}

/// Returns the devices whose name contains `choice`, ignoring case.
fn chosen(choice: &[u8]) -> Result<Buffer<Device>> {
    let mut devices = Buffer::new();
    for device in MTLCopyAllDevices() {
        let name = failure::text(&device.name())?;
        if devices.len() < MAX_DEVICES && variable::contains(name.as_bytes(), choice) {
            devices.try_push(Device::new(device)?)?;
        }
    }
    Ok(devices)
}
