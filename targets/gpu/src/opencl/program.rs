//! Programs, built for one device.

use core::ptr;

use ferrite_core::error::{Error, Result};
use ferrite_core::memory::Buffer;
use ferrite_core::plain_error;

use super::api::{self, Handle, Status};
use super::device::Device;
use super::failure;
use super::platform::info;

/// A built program.
pub struct Program {
    device: &'static Device,
    handle: Handle,
}

// SAFETY: OpenCL's functions may be called with programs from any thread, but for building, which is over.
unsafe impl Send for Program {}
// SAFETY: as for Send.
unsafe impl Sync for Program {}

impl Program {
    /// Compiles source.
    ///
    /// # Errors
    /// InternalError with the log of the compiler.
    pub(super) fn from_source(device: &'static Device, source: &[u8]) -> Result<Program> {
        let (text, len) = (source.as_ptr().cast(), source.len());
        let mut status = api::SUCCESS;
        // SAFETY: one text of this length is given.
        let handle =
            unsafe { (device.api.clCreateProgramWithSource)(device.context, 1, &text, &len, &mut status) };
        failure::check(status)?;
        Program { device, handle }.build()
    }

    /// Loads a binary for this device.
    ///
    /// # Errors
    /// InternalError when it is none, or is one for another device or driver.
    pub(super) fn from_binary(device: &'static Device, binary: &[u8]) -> Result<Program> {
        let (code, len) = (binary.as_ptr(), binary.len());
        let (mut status, mut binary_status) = (api::SUCCESS, api::SUCCESS);
        // SAFETY: one device and one binary of this length are given.
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
        // SAFETY: one device is given, no options, and no callback: the call ends when the program is built.
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

    /// Another owner of the same program.
    pub(super) fn share(&self) -> Program {
        // SAFETY: the program is alive.
        unsafe { (self.device.api.clRetainProgram)(self.handle) };
        Program { device: self.device, handle: self.handle }
    }

    /// The handle, borrowed.
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// The binary for the device.
    ///
    /// # Errors
    /// Errors of the driver; MemoryError.
    pub(super) fn binary(&self) -> Result<Buffer<u8>> {
        let get = self.device.api.clGetProgramInfo;
        let mut len = 0usize;
        let word = size_of::<usize>();
        // SAFETY: the program has one device, so that there is one size.
        failure::check(unsafe {
            get(self.handle, api::PROGRAM_BINARY_SIZES, word, (&raw mut len).cast(), ptr::null_mut())
        })?;
        let mut binary = Buffer::new();
        binary.try_resize(len, 0u8)?;
        let mut place = binary.as_mut_slice().as_mut_ptr();
        // SAFETY: there is room for one binary of this length.
        failure::check(unsafe {
            get(self.handle, api::PROGRAM_BINARIES, word, (&raw mut place).cast(), ptr::null_mut())
        })?;
        Ok(binary)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the reference is ours; kernels that are queued hold the program. Errors do not matter here.
        unsafe { (self.device.api.clReleaseProgram)(self.handle) };
    }
}
