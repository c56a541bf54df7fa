//! Devices by type and id.
#![forbid(unsafe_code)]

use core::fmt;

use ferrite_core::abi::DLDevice;
use ferrite_core::error::{Error, Result};
use ferrite_core::text::Writer;
use ferrite_core::{Any, String, device};

use super::backend::{Attribute, Backend};
use super::stream;
use super::table::{find, get, registered};

/// A device: a type and an id. Making one opens no driver, and the device need not exist.
///
/// The CPU is a device, too. It has no attributes, and its streams and events are always over, so that code for devices runs
/// without one.
///
/// ```
/// use ferrite_alloc_ext::device::{Device, DeviceTensor};
///
/// # fn main() -> ferrite_core::Result<()> {
/// let device = Device::all().next().unwrap_or(Device::CPU);
/// let tensor = DeviceTensor::from_slice(device, &[1.0f32, 2.0, 3.0], &[3])?;
/// assert_eq!(*tensor.read::<f32>()?, [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Device(DLDevice);

impl Device {
    /// Main memory.
    pub const CPU: Device = Device::new(device::kind::CPU, 0);

    /// The device of a [type](ferrite_core::device::kind) and an id.
    pub const fn new(device_type: i32, id: i32) -> Device {
        Device(DLDevice { device_type, device_id: id })
    }

    /// Reads a device from text such as `cuda:1`.
    ///
    /// # Errors
    /// ValueError when the text names no device.
    pub fn parse(text: &str) -> Result<Device> {
        DLDevice::parse(text.as_bytes()).map(Device)
    }

    /// All devices that exist, of every type that has a back end. Opens their drivers; a type whose driver is missing has no
    /// devices.
    pub fn all() -> impl Iterator<Item = Device> {
        registered().flat_map(|backend| Device::all_of_type(backend.device_type()))
    }

    /// The devices of a type that exist.
    pub fn all_of_type(device_type: i32) -> impl Iterator<Item = Device> {
        (0..).map(move |id| Device::new(device_type, id)).take_while(|device| device.exists())
    }

    /// The device type.
    pub const fn device_type(self) -> i32 {
        self.0.device_type
    }

    /// The id among the devices of the type.
    pub const fn id(self) -> i32 {
        self.0.device_id
    }

    /// The name of the type, such as `opencl`.
    pub fn type_name(self) -> &'static str {
        device::type_name(self.0.device_type).unwrap_or("unknown")
    }

    /// Returns `true` if the device can be used. [`attribute`](Device::attribute) tells why it cannot.
    pub fn exists(self) -> bool {
        match find(self.0.device_type) {
            Some(backend) => {
                let exists = backend.attribute(self.0.device_id, Attribute::Exists);
                exists.and_then(|exists| exists.get::<bool>()).unwrap_or(false)
            }
            None => self == Device::CPU,
        }
    }

    /// The name that the driver gives the device.
    ///
    /// # Errors
    /// As [`attribute`](Device::attribute).
    pub fn name(self) -> Result<Option<String>> {
        self.attribute(Attribute::DeviceName)?.get()
    }

    /// The value of an attribute; None where the device cannot tell.
    ///
    /// # Errors
    /// InternalError when the build has no back end for the device; ValueError or InternalError when there is no such device;
    /// errors of the driver, a missing library among them.
    pub fn attribute(self, attribute: Attribute) -> Result<Any> {
        match self.backend()? {
            Some(backend) => backend.attribute(self.0.device_id, attribute),
            None if attribute == Attribute::Exists => Ok(self.exists().into()),
            None => Ok(Any::NONE),
        }
    }

    /// Makes this the device on which this thread launches kernels. Host code that TVM compiled does so itself; kernels that are
    /// called by themselves need it.
    ///
    /// # Errors
    /// As [`attribute`](Device::attribute).
    pub fn make_current(self) -> Result<()> {
        match self.backend()? {
            Some(backend) => backend.set_device(self.0.device_id),
            None => Ok(()),
        }
    }

    /// Waits until everything that was queued on this thread's stream of the device is done.
    ///
    /// # Errors
    /// Errors of the driver, among them those of kernels that were launched before.
    pub fn synchronize(self) -> Result<()> {
        stream::synchronize_current(self)
    }

    /// The back end; None for the CPU.
    ///
    /// # Errors
    /// InternalError when the build has none for the device.
    pub(super) fn backend(self) -> Result<Option<&'static dyn Backend>> {
        if self.0.device_type == device::kind::CPU { Ok(None) } else { get(self.0.device_type).map(Some) }
    }
}

impl From<DLDevice> for Device {
    fn from(device: DLDevice) -> Device {
        Device(device)
    }
}

impl From<Device> for DLDevice {
    fn from(device: Device) -> DLDevice {
        device.0
    }
}

impl core::str::FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device> {
        Device::parse(text)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; 32];
        let mut writer = Writer::new(&mut text);
        device::write_device(self.0, &mut writer);
        let len = writer.wanted;
        f.write_str(text.get(..len).and_then(|text| str::from_utf8(text).ok()).unwrap_or_default())
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
