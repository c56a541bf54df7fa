//! Device handles, which consist of a device type and an id.
#![forbid(unsafe_code)]

use core::fmt;

use ferrite_core::abi::DLDevice;
use ferrite_core::error::{Error, Result};
use ferrite_core::platform::text::Writer;
use ferrite_core::value::device;
use ferrite_core::{Any, String};

use super::backend::{Attribute, Backend};
use super::table::{find, get, registered};

/// A device, identified by type and id. Creating a handle opens no driver, and the device need not
/// exist.
///
/// The CPU is a device, too. It has no attributes, and its streams and events are always complete,
/// so that device code also runs without an accelerator.
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
    /// The CPU, whose memory is main memory.
    pub const CPU: Device = Device::new(device::kind::CPU, 0);

    /// Creates the handle of a device from its [type](ferrite_core::value::device::kind) and id.
    pub const fn new(device_type: i32, id: i32) -> Device {
        Device(DLDevice { device_type, device_id: id })
    }

    /// Parses a device string such as `cuda:1`.
    ///
    /// # Errors
    /// ValueError if the string does not name a device.
    pub fn parse(text: &str) -> Result<Device> {
        DLDevice::parse(text.as_bytes()).map(Device)
    }

    /// Returns all existing devices of all types with a back end. Opens their drivers; a device
    /// type without a driver has no devices.
    pub fn all() -> impl Iterator<Item = Device> {
        registered().flat_map(|backend| Device::all_of_type(backend.device_type()))
    }

    /// Returns the existing devices of a type.
    pub fn all_of_type(device_type: i32) -> impl Iterator<Item = Device> {
        (0..).map(move |id| Device::new(device_type, id)).take_while(|device| device.exists())
    }

    /// Returns the device type.
    pub const fn device_type(self) -> i32 {
        self.0.device_type
    }

    /// Returns the device id, which numbers the devices of one type from 0.
    pub const fn id(self) -> i32 {
        self.0.device_id
    }

    /// Returns the name of the device type, such as `opencl`.
    pub fn type_name(self) -> &'static str {
        device::type_name(self.0.device_type).unwrap_or("unknown")
    }

    /// Returns `true` if the device can be used. If not, the error of
    /// [`attribute`](Device::attribute) gives the reason.
    pub fn exists(self) -> bool {
        match find(self.0.device_type) {
            Some(backend) => {
                let exists = backend.attribute(self.0.device_id, Attribute::Exists);
                exists.and_then(|exists| exists.get::<bool>()).unwrap_or(false)
            }
            None => self == Device::CPU,
        }
    }

    /// Returns whether [`synchronize`](Device::synchronize) may wait in the middle of a call. See
    /// [`Backend::can_wait`].
    pub fn can_wait(self) -> bool {
        find(self.0.device_type).is_none_or(Backend::can_wait)
    }

    /// Returns the device name reported by the driver; `None` if there is none.
    ///
    /// # Errors
    /// Errors of [`attribute`](Device::attribute).
    pub fn name(self) -> Result<Option<String>> {
        self.attribute(Attribute::DeviceName)?.get()
    }

    /// Returns the value of an attribute; None if the device does not report it.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device; ValueError or InternalError if
    /// there is no such device; errors of the driver, including a missing driver library.
    pub fn attribute(self, attribute: Attribute) -> Result<Any> {
        match self.backend()? {
            Some(backend) => backend.attribute(self.0.device_id, attribute),
            None if attribute == Attribute::Exists => Ok(self.exists().into()),
            None => Ok(Any::NONE),
        }
    }

    /// Makes this the current device of the thread. Kernels are launched on the current device.
    /// Host code compiled by TVM makes its device current itself; programs that launch kernels
    /// directly must call this method.
    ///
    /// # Errors
    /// Errors of [`attribute`](Device::attribute).
    pub fn make_current(self) -> Result<()> {
        match self.backend()? {
            Some(backend) => backend.set_device(self.0.device_id),
            None => Ok(()),
        }
    }

    /// Gives memory that was freed, and that the device keeps for later tensors, back to the
    /// driver, so that other processes can use it. May wait for the device.
    ///
    /// # Errors
    /// Errors of [`attribute`](Device::attribute).
    pub fn release_unused_memory(self) -> Result<()> {
        match self.backend()? {
            Some(backend) => backend.release_unused_memory(self.0.device_id),
            None => Ok(()),
        }
    }

    /// Returns the back end; `None` for the CPU.
    ///
    /// # Errors
    /// InternalError if the build has no back end for the device.
    pub(super) fn backend(self) -> Result<Option<&'static dyn Backend>> {
        if self.0.device_type == device::kind::CPU {
            Ok(None)
        } else {
            get(self.0.device_type).map(Some)
        }
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
