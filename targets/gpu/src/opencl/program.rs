//! OpenCL programs, built for one device.

use core::ptr;

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;

use super::api::{self, Handle, Status};
use super::device::Device;
use super::failure;
use super::info::info;

/// A built program.
pub struct Program {
    device: &'static Device,
    handle: Handle,
}

// SAFETY: OpenCL's functions accept programs on any thread, except while a program is built, which
// it already is.
unsafe impl Send for Program {}
// SAFETY: as for Send.
unsafe impl Sync for Program {}

impl Program {
    /// Compiles source.
    ///
    /// # Errors
    /// InternalError with the compiler's log.
    pub(super) fn from_source(device: &'static Device, source: &[u8]) -> Result<Program> {
        let (text, len) = (source.as_ptr().cast(), source.len());
        let mut status = api::SUCCESS;
        // SAFETY: one string of this length is passed.
        let handle = unsafe {
            (device.api.clCreateProgramWithSource)(device.context, 1, &text, &len, &mut status)
        };
        failure::check(status)?;
        Program { device, handle }.build()
    }

    /// Loads a binary for this device.
    ///
    /// # Errors
    /// InternalError if it is not a binary for this device and driver.
    pub(super) fn from_binary(device: &'static Device, binary: &[u8]) -> Result<Program> {
        let (code, len) = (binary.as_ptr(), binary.len());
        let (mut status, mut binary_status) = (api::SUCCESS, api::SUCCESS);
        // SAFETY: one device and one binary of this length are passed.
        let handle = unsafe {
            (device.api.clCreateProgramWithBinary)(
                device.context,
                1,
                &device.id,
                &len,
                &code,
                &mut binary_status,
                &mut status,
            )
        };
        failure::check(status)?;
        let program = Program { device, handle };
        failure::check(binary_status)?;
        program.build()
    }

    fn build(self) -> Result<Program> {
        let device = self.device;
        // SAFETY: one device, no options and no callback are passed, so the call returns when the
        // program is built.
        let status = unsafe {
            (device.api.clBuildProgram)(
                self.handle,
                1,
                &device.id,
                c"".as_ptr(),
                ptr::null(),
                ptr::null_mut(),
            )
        };
        if status == api::SUCCESS { Ok(self) } else { Err(self.build_error(status)) }
    }

    #[cold]
    fn build_error(&self, status: Status) -> Error {
        let device = self.device;
        let query = |name| {
            info(|size, value, written| {
                // SAFETY: the driver writes at most `size` bytes.
                unsafe {
                    match name {
                        api::PROGRAM_BUILD_LOG => (device.api.clGetProgramBuildInfo)(
                            self.handle,
                            device.id,
                            name,
                            size,
                            value,
                            written,
                        ),
                        _ => (device.api.clGetDeviceInfo)(device.id, name, size, value, written),
                    }
                }
            })
            .unwrap_or_default()
        };
        let (name, log) = (query(api::DEVICE_NAME), query(api::PROGRAM_BUILD_LOG));
        plain_error!(
            INTERNAL_ERROR,
            "OpenCL build error for device={}\n\
             Error: {}\n{}",
            name.as_slice(),
            failure::name(status),
            log.as_slice()
        )
    }

    /// Returns another owned reference to the program.
    pub(super) fn share(&self) -> Program {
        // SAFETY: the program is live.
        unsafe { (self.device.api.clRetainProgram)(self.handle) };
        Program { device: self.device, handle: self.handle }
    }

    /// Returns the program's handle, borrowed.
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// Returns the program's binary for its device.
    ///
    /// # Errors
    /// Errors of the driver; MemoryError.
    pub(super) fn binary(&self) -> Result<Buffer<u8>> {
        let get = self.device.api.clGetProgramInfo;
        let mut len = 0usize;
        let word = size_of::<usize>();
        // SAFETY: the program has one device, hence one size.
        failure::check(unsafe {
            get(
                self.handle,
                api::PROGRAM_BINARY_SIZES,
                word,
                (&raw mut len).cast(),
                ptr::null_mut(),
            )
        })?;
        let mut binary = Buffer::new();
        binary.try_resize(len, 0u8)?;
        let mut out = binary.as_mut_slice().as_mut_ptr();
        // SAFETY: the buffer has the size of the one binary.
        failure::check(unsafe {
            get(self.handle, api::PROGRAM_BINARIES, word, (&raw mut out).cast(), ptr::null_mut())
        })?;
        Ok(binary)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the reference is owned; queued kernels retain the program. Errors are ignored.
        unsafe { (self.device.api.clReleaseProgram)(self.handle) };
    }
}
