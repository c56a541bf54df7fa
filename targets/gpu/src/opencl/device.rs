//! An OpenCL device with its context and its queue.

use core::ffi::{c_uint, c_void};
use core::ptr;

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, String};

use super::api::{self, Api, Handle};
use super::failure;
use super::info::info;
use crate::allocation::FreeList;
use crate::variable;
use crate::workspace::Workspaces;

/// An OpenCL device. Each device has a separate context, so devices cannot share memory.
pub(super) struct Device {
    pub(super) api: &'static Api,
    pub(super) id: Handle,
    pub(super) context: Handle,
    /// In-order queue: commands run in the order in which they are queued.
    pub(super) queue: Handle,
    /// Size of the device's memory in bytes.
    pub(super) memory: u64,
    pub(super) unused: FreeList,
    pub(super) workspaces: Workspaces,
}

// SAFETY: OpenCL's functions accept these handles on any thread.
unsafe impl Send for Device {}
// SAFETY: as for Send.
unsafe impl Sync for Device {}

impl Device {
    /// Opens a device.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn new(api: &'static Api, id: Handle) -> Result<Device> {
        let mut status = api::SUCCESS;
        // SAFETY: one device and no callback are passed.
        let context = unsafe {
            (api.clCreateContext)(ptr::null(), 1, &id, ptr::null(), ptr::null_mut(), &mut status)
        };
        failure::check(status)?;
        // SAFETY: the device belongs to the context.
        let queue = unsafe { (api.clCreateCommandQueue)(context, id, 0, &mut status) };
        let (unused, workspaces) = (FreeList::new(0), Workspaces::new());
        let mut device = Device { api, id, context, queue, memory: 0, unused, workspaces };
        failure::check(status)?;
        device.memory = device.number(api::DEVICE_GLOBAL_MEM_SIZE)?.cast_unsigned();
        device.unused = FreeList::new(device.memory);
        Ok(device)
    }

    /// Returns `true` if the device supports OpenCL 1.2 or later.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn is_recent(api: &Api, id: Handle) -> Result<bool> {
        let version = info(|size, value, written| {
            // SAFETY: the driver writes at most `size` bytes.
            unsafe { (api.clGetDeviceInfo)(id, api::DEVICE_VERSION, size, value, written) }
        })?;
        Ok(is_recent_version(&version))
    }

    /// Waits until all queued commands are complete.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn finish(&self) -> Result<()> {
        // SAFETY: the queue is never freed.
        failure::check(unsafe { (self.api.clFinish)(self.queue) })
    }

    /// Returns the value of an attribute; `None` if OpenCL has no such attribute.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn attribute(&self, attribute: Attribute) -> Result<Any> {
        Ok(match attribute {
            Attribute::MaxThreadsPerBlock => self.number(api::DEVICE_MAX_WORK_GROUP_SIZE)?.into(),
            Attribute::WarpSize => warp_size().into(),
            Attribute::SharedMemoryPerBlock => self.number(api::DEVICE_LOCAL_MEM_SIZE)?.into(),
            Attribute::ComputeVersion => self.text(api::DEVICE_VERSION)?.into(),
            Attribute::DeviceName => self.text(api::DEVICE_NAME)?.into(),
            Attribute::MaxClockRate => {
                (self.number(api::DEVICE_MAX_CLOCK_FREQUENCY)? * 1000).into()
            }
            Attribute::MultiProcessorCount => self.number(api::DEVICE_MAX_COMPUTE_UNITS)?.into(),
            Attribute::MaxThreadDimensions => self.work_item_sizes()?.into(),
            Attribute::ApiVersion => 120i64.into(),
            Attribute::DriverVersion => self.text(api::DRIVER_VERSION)?.into(),
            Attribute::L2CacheBytes => self.number(api::DEVICE_GLOBAL_MEM_CACHE_SIZE)?.into(),
            Attribute::TotalGlobalMemory => self.number(api::DEVICE_GLOBAL_MEM_SIZE)?.into(),
            _ => Any::NONE,
        })
    }

    fn query(
        &self,
        name: c_uint,
        size: usize,
        value: *mut c_void,
        written: *mut usize,
    ) -> api::Status {
        // SAFETY: the driver writes at most `size` bytes.
        unsafe { (self.api.clGetDeviceInfo)(self.id, name, size, value, written) }
    }

    /// Reads an integer attribute of 4 or 8 bytes.
    fn number(&self, name: c_uint) -> Result<i64> {
        let mut value = 0u64;
        failure::check(self.query(
            name,
            size_of::<u64>(),
            (&raw mut value).cast(),
            ptr::null_mut(),
        ))?;
        Ok(value.cast_signed())
    }

    fn text(&self, name: c_uint) -> Result<String> {
        let text = info(|size, value, written| self.query(name, size, value, written))?;
        String::from_bytes(&text)
    }

    /// Returns the maximum extents of a work group, such as `[4096, 4096, 4096]`.
    fn work_item_sizes(&self) -> Result<String> {
        let mut sizes: Buffer<usize> = Buffer::new();
        let mut bytes = 0;
        failure::check(self.query(
            api::DEVICE_MAX_WORK_ITEM_SIZES,
            0,
            ptr::null_mut(),
            &mut bytes,
        ))?;
        sizes.try_resize(bytes.div_ceil(size_of::<usize>()).max(3), 1)?;
        let out = sizes.as_mut_slice().as_mut_ptr().cast();
        failure::check(self.query(api::DEVICE_MAX_WORK_ITEM_SIZES, bytes, out, ptr::null_mut()))?;
        String::format(format_args!("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]))
    }
}

impl Drop for Device {
    /// Releases the handles of a device that could not be opened completely. Opened devices are
    /// never dropped.
    fn drop(&mut self) {
        // SAFETY: the handles are null or owned.
        unsafe {
            if !self.queue.is_null() {
                (self.api.clReleaseCommandQueue)(self.queue);
            }
            if !self.context.is_null() {
                (self.api.clReleaseContext)(self.context);
            }
        }
    }
}

/// Returns the number of threads in a warp, which OpenCL does not report: `TVM_OPENCL_WARP_SIZE`,
/// or 1.
fn warp_size() -> i64 {
    let value =
        variable::get(c"TVM_OPENCL_WARP_SIZE").and_then(|value| core::str::from_utf8(value).ok());
    value.and_then(|value| value.parse().ok()).unwrap_or(1)
}

/// Returns `true` if a version string such as `OpenCL 3.0 PoCL` states version 1.2 or later.
fn is_recent_version(version: &[u8]) -> bool {
    match version.strip_prefix(b"OpenCL ") {
        Some([major, b'.', minor, ..]) => {
            (*major, *minor) >= (b'1', b'2') && major.is_ascii_digit()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_recent_version;

    #[test]
    fn versions_from_1_2_are_recent() {
        for recent in ["OpenCL 1.2", "OpenCL 2.0 AMD", "OpenCL 3.0 PoCL HSTR"] {
            assert!(is_recent_version(recent.as_bytes()), "{recent}");
        }
        for other in ["OpenCL 1.1", "OpenCL 1", "OpenGL 4.5", ""] {
            assert!(!is_recent_version(other.as_bytes()), "{other}");
        }
    }
}
