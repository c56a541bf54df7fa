//! CUDA modules loaded on a device.

use core::ffi::{c_int, c_void};
use core::ptr;

use ferrite_core::AnyView;
use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::convert::OpaquePtr;

use super::api::{self, Handle};
use super::device::Device;
use super::failure::{self, cuda_error};
use super::image::Format;

/// Maximum number of bytes of the driver's log in an error message.
const LOG_BYTES: usize = 8192;

/// Global function that NVSHMEM registers to initialise new modules.
const NVSHMEM_INIT: &[u8] = b"runtime.nvshmem.cumodule_init";

/// A module loaded on one device.
pub struct Module {
    device: &'static Device,
    handle: Handle,
}

// SAFETY: the driver's functions accept a module on any thread.
unsafe impl Send for Module {}
// SAFETY: as for Send.
unsafe impl Sync for Module {}

impl Module {
    /// Loads validated code, and lets NVSHMEM initialise the module if NVSHMEM is present.
    ///
    /// # Errors
    /// CUDAError with the driver's log; MemoryError; errors of NVSHMEM.
    pub(super) fn load(device: &'static Device, format: Format, code: &[u8]) -> Result<Module> {
        let _entered = device.enter()?;
        let text = format.terminated(code)?;
        let image = text.as_deref().unwrap_or(code);
        let mut log = Buffer::new();
        log.try_resize(LOG_BYTES, 0u8)?;
        let options: [c_int; 2] = [api::ERROR_LOG_BUFFER, api::ERROR_LOG_BUFFER_SIZE_BYTES];
        let values: [*mut c_void; 2] =
            [log.as_mut_slice().as_mut_ptr().cast(), ptr::without_provenance_mut(LOG_BYTES)];
        let mut handle = ptr::null_mut();
        // SAFETY: the image is complete, as its validation shows; the log has the size passed.
        let status = unsafe {
            let image = image.as_ptr().cast();
            (device.api.cuModuleLoadDataEx)(
                &mut handle,
                image,
                2,
                options.as_ptr(),
                values.as_ptr(),
            )
        };
        if status != api::SUCCESS {
            let log = log.split(|byte| *byte == 0).next().unwrap_or_default();
            let name = failure::name(device.api, status);
            if status == api::OUT_OF_MEMORY {
                plain_bail!(MEMORY_ERROR, "cuModuleLoadDataEx failed with error: {}", name);
            }
            let separator: &[u8] = if log.is_empty() { b"" } else { b"\n" };
            return Err(cuda_error(&[
                b"cuModuleLoadDataEx failed with error: ",
                name,
                separator,
                log,
            ]));
        }
        let module = Module { device, handle };
        if let Some(init) = global_table::get(NVSHMEM_INIT)? {
            // SAFETY: the function takes a module of CUDA.
            let handle = unsafe { OpaquePtr::new(handle) };
            init.call_packed(&[AnyView::from(&handle)])?;
        }
        Ok(module)
    }

    /// Looks up a kernel by its name, which must end in a NUL.
    ///
    /// # Errors
    /// CUDAError if there is no such kernel.
    pub(super) fn find(&self, name: &[u8]) -> Result<Handle> {
        let mut function = ptr::null_mut();
        // SAFETY: the name ends in a NUL.
        let status = unsafe {
            (self.device.api.cuModuleGetFunction)(&mut function, self.handle, name.as_ptr().cast())
        };
        if status != api::SUCCESS {
            let name = name.strip_suffix(b"\0").unwrap_or(name);
            let error = failure::name(self.device.api, status);
            return Err(cuda_error(&[
                b"cuModuleGetFunction ",
                name,
                b" failed with error: ",
                error,
            ]));
        }
        Ok(function)
    }

    /// Returns the device that the module is loaded on.
    pub(super) fn device(&self) -> &'static Device {
        self.device
    }
}

impl Drop for Module {
    /// Waits for queued kernels, whose code belongs to the module, and unloads it. If waiting
    /// fails, the code stays loaded. Errors are ignored: at process exit, the driver may already be
    /// gone.
    fn drop(&mut self) {
        if let Some(_entered) = self.device.enter_to_release() {
            // SAFETY: this is the owner of the module, and none of its kernels is running.
            unsafe {
                (self.device.api.cuCtxSynchronize)();
                (self.device.api.cuModuleUnload)(self.handle);
            }
        }
    }
}
