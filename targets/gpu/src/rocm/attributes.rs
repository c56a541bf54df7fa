//! Attributes of a ROCm device.

use core::ffi::{CStr, c_int};

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

use super::api::{self, Api, Status};
use super::platform::{Platform, on};
use crate::attribute_text;

/// Returns the value of an attribute of an existing device; `None` if HIP has no such attribute.
///
/// # Errors
/// Errors of the driver.
pub(super) fn get(platform: &'static Platform, id: i32, attribute: Attribute) -> Result<Any> {
    let device = Device { api: &platform.api, id };
    Ok(match attribute {
        Attribute::Exists => 1i64.into(),
        Attribute::MaxThreadsPerBlock => device.number(api::THREADS_PER_BLOCK)?.into(),
        Attribute::WarpSize => device.number(api::WARP_SIZE)?.into(),
        Attribute::SharedMemoryPerBlock => device.number(api::SHARED_PER_BLOCK)?.into(),
        Attribute::ComputeVersion => attribute_text::version(
            device.number(api::CAPABILITY_MAJOR)?,
            device.number(api::CAPABILITY_MINOR)?,
        )?
        .into(),
        Attribute::DeviceName => device.name()?.into(),
        Attribute::MaxClockRate => device.number(api::CLOCK_RATE)?.into(),
        Attribute::MultiProcessorCount => device.number(api::MULTIPROCESSORS)?.into(),
        Attribute::MaxThreadDimensions => attribute_text::extents(
            device.number(api::BLOCK_X)?,
            device.number(api::BLOCK_Y)?,
            device.number(api::BLOCK_Z)?,
        )?
        .into(),
        Attribute::MaxRegistersPerBlock => device.number(api::REGISTERS_PER_BLOCK)?.into(),
        Attribute::GcnArch => device.architecture()?.map_or(Any::NONE, Any::from),
        Attribute::ApiVersion => {
            device.version("hipRuntimeGetVersion", platform.api.hipRuntimeGetVersion)?.into()
        }
        Attribute::DriverVersion => {
            device.version("hipDriverGetVersion", platform.api.hipDriverGetVersion)?.into()
        }
        Attribute::L2CacheBytes => device.number(api::L2_CACHE_SIZE)?.into(),
        Attribute::TotalGlobalMemory => device.total_memory()?.into(),
        Attribute::AvailableGlobalMemory => free_memory(id)?.into(),
        Attribute::ImagePitchAlignment => Any::NONE,
    })
}

/// Returns the free memory of a device in bytes.
fn free_memory(id: i32) -> Result<i64> {
    let device = on(id)?;
    let (mut free, mut total) = (0usize, 0usize);
    // SAFETY: the driver writes both numbers for the current device.
    let status = unsafe { (device.api().hipMemGetInfo)(&mut free, &mut total) };
    device.api().check("hipMemGetInfo", status)?;
    Ok(free as i64)
}

/// A device that is known to exist.
pub(super) struct Device {
    pub(super) api: &'static Api,
    pub(super) id: i32,
}

impl Device {
    fn number(&self, attribute: c_int) -> Result<i64> {
        let mut value = 0;
        // SAFETY: the driver writes the number.
        let status = unsafe { (self.api.hipDeviceGetAttribute)(&mut value, attribute, self.id) };
        self.api.check("hipDeviceGetAttribute", status)?;
        Ok(i64::from(value))
    }

    fn version(&self, call: &str, get: unsafe extern "C" fn(*mut c_int) -> Status) -> Result<i64> {
        let mut version = 0;
        // SAFETY: the driver writes the number.
        self.api.check(call, unsafe { get(&mut version) })?;
        Ok(i64::from(version))
    }

    fn name(&self) -> Result<String> {
        let mut name = [0u8; 256];
        // SAFETY: the driver writes at most the number of bytes passed.
        let status = unsafe {
            (self.api.hipDeviceGetName)(name.as_mut_ptr().cast(), name.len() as c_int, self.id)
        };
        self.api.check("hipDeviceGetName", status)?;
        String::from_bytes(until_zero(&name))
    }

    fn total_memory(&self) -> Result<i64> {
        let mut bytes = 0usize;
        // SAFETY: the driver writes the number.
        let status = unsafe { (self.api.hipDeviceTotalMem)(&mut bytes, self.id) };
        self.api.check("hipDeviceTotalMem", status)?;
        Ok(bytes as i64)
    }

    /// Returns the name of the architecture, such as `gfx1100`. Returns `None` before ROCm 6, whose
    /// device properties have another layout.
    ///
    /// # Errors
    /// Errors of the driver; MemoryError.
    pub(super) fn architecture(&self) -> Result<Option<String>> {
        #[repr(C, align(16))]
        struct Properties([u8; api::PROPERTIES_BYTES]);
        let Some(get) = self.api.hipGetDevicePropertiesR0600 else { return Ok(None) };
        let mut properties = Properties([0; api::PROPERTIES_BYTES]);
        // SAFETY: the record of this version is smaller than the buffer.
        let status = unsafe { get((&raw mut properties).cast(), self.id) };
        self.api.check("hipGetDevicePropertiesR0600", status)?;
        let end = api::ARCHITECTURE_AT + api::ARCHITECTURE_BYTES;
        let name = properties.0.get(api::ARCHITECTURE_AT..end).unwrap_or_default();
        String::from_bytes(until_zero(name)).map(Some)
    }
}

/// Returns the bytes before the first NUL.
fn until_zero(text: &[u8]) -> &[u8] {
    CStr::from_bytes_until_nul(text).map_or(text, CStr::to_bytes)
}
