//! ROCm code objects, their kernels, and launches.

use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::{Error, Result};
use ferrite_core::plain_error;
use ferrite_core::platform::memory::Buffer;

use super::api::{self, Api, Handle, Status};
use super::attributes::Device;
use super::failure;
use super::platform::{OnDevice, current_stream, on};
use crate::allocation::UsedStreams;
use crate::launch::{Launch, MAX_PARAMETERS, pack_aligned};

/// A code object loaded on one device.
pub struct CodeObject {
    api: &'static Api,
    device: i32,
    handle: Handle,
    /// The ELF file, aligned as its records require. The driver may read it as long as the module
    /// is loaded.
    _image: Buffer<u64>,
}

// SAFETY: HIP's functions accept a module on any thread.
unsafe impl Send for CodeObject {}
// SAFETY: as for Send.
unsafe impl Sync for CodeObject {}

impl CodeObject {
    /// Loads a code object.
    ///
    /// # Errors
    /// Errors of the driver; MemoryError.
    pub(super) fn load(device: i32, code: &[u8]) -> Result<CodeObject> {
        let on_device = on(device)?;
        let image = aligned(code)?;
        let api = on_device.api();
        let mut handle = ptr::null_mut();
        // SAFETY: the image is an ELF file, validated to contain all its parts.
        let status = unsafe { (api.hipModuleLoadData)(&mut handle, image.as_ptr().cast()) };
        match status {
            api::SUCCESS => Ok(CodeObject { api, device, handle, _image: image }),
            _ => Err(load_error(&on_device, device, status)),
        }
    }

    /// Looks up a kernel; `name` must end in a NUL.
    ///
    /// # Errors
    /// ROCMError if the code object does not contain it.
    pub(super) fn kernel(&self, name: &Buffer<u8>) -> Result<Kernel> {
        let mut function = ptr::null_mut();
        let on_device = on(self.device)?;
        // SAFETY: the module is loaded, and the name ends in a NUL.
        let status = unsafe {
            (self.api.hipModuleGetFunction)(&mut function, self.handle, name.as_ptr().cast())
        };
        match status {
            api::SUCCESS => {
                let streams = &on_device.pool().streams;
                Ok(Kernel { api: self.api, function, streams })
            }
            _ => Err(self.api.missing_kernel(name.strip_suffix(b"\0").unwrap_or(name), status)),
        }
    }
}

impl Drop for CodeObject {
    /// Waits for queued kernels, then unloads the module. Errors are ignored.
    fn drop(&mut self) {
        // Tried twice, since a module cannot be unloaded while another device is current.
        if let Ok(_on_device) = on(self.device).or_else(|_| on(self.device)) {
            // SAFETY: this is the owner of the module, and none of its kernels is launched any
            // more.
            unsafe {
                (self.api.hipDeviceSynchronize)();
                (self.api.hipModuleUnload)(self.handle);
            }
        }
    }
}

/// Copies an ELF file to 8-byte aligned memory.
fn aligned(file: &[u8]) -> Result<Buffer<u64>> {
    let mut words = Buffer::try_with_capacity(file.len().div_ceil(8))?;
    for word in file.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        words.try_push(u64::from_ne_bytes(bytes))?;
    }
    Ok(words)
}

/// Returns the error for a code object that does not load. It names the device's architecture,
/// since the most common cause is code for another architecture.
#[cold]
fn load_error(device: &OnDevice, id: i32, status: Status) -> Error {
    let api = device.api();
    let architecture = match status {
        api::NO_BINARY_FOR_GPU => Device { api, id }.architecture().ok().flatten(),
        _ => None,
    };
    match architecture {
        Some(architecture) => plain_error!(
            INTERNAL_ERROR,
            "ROCM HIP Error: hipModuleLoadData failed with error: {} (the device is {})",
            api.text(status),
            architecture.as_bytes()
        ),
        None => api.error("hipModuleLoadData", status),
    }
}

/// A kernel loaded on one device. The module that owns the kernel also owns its code object.
pub struct Kernel {
    api: &'static Api,
    function: Handle,
    /// Used streams of the device.
    streams: &'static UsedStreams,
}

// SAFETY: HIP's functions accept a function on any thread.
unsafe impl Send for Kernel {}
// SAFETY: as for Send.
unsafe impl Sync for Kernel {}

/// Buffer for packed arguments, on the stack.
#[repr(C, align(16))]
struct Arguments<const N: usize>([u8; N]);

impl Kernel {
    /// Queues a launch on the calling thread's current stream.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The values must have the kernel's parameter types; handles must be memory of this device,
    /// which must be current.
    #[inline]
    pub(super) unsafe fn launch(&self, device: i32, launch: &Launch<'_>) -> Result<()> {
        let mut arguments = Arguments([0; 128]);
        match pack_aligned(launch, &mut arguments.0) {
            // SAFETY: the caller guarantees the values.
            Some(bytes) => unsafe {
                self.queue(device, launch, (&raw mut arguments).cast(), bytes)
            },
            // SAFETY: as above.
            None => unsafe { self.launch_many(device, launch) },
        }
    }

    /// Queues a launch with any number of arguments.
    ///
    /// # Safety
    /// Same requirements as [`launch`](Kernel::launch).
    #[cold]
    unsafe fn launch_many(&self, device: i32, launch: &Launch<'_>) -> Result<()> {
        let mut arguments = Arguments([0; MAX_PARAMETERS * 8]);
        match pack_aligned(launch, &mut arguments.0) {
            // SAFETY: the caller guarantees the values.
            Some(bytes) => unsafe {
                self.queue(device, launch, (&raw mut arguments).cast(), bytes)
            },
            None => Err(plain_error!(
                INTERNAL_ERROR,
                "A kernel has more than {} parameters",
                MAX_PARAMETERS
            )),
        }
    }

    /// Passes packed arguments to the driver and queues the launch.
    ///
    /// # Safety
    /// Same requirements as [`launch`](Kernel::launch); `arguments` must have `bytes` bytes.
    #[inline]
    unsafe fn queue(
        &self,
        device: i32,
        launch: &Launch<'_>,
        arguments: *mut c_void,
        mut bytes: usize,
    ) -> Result<()> {
        let mut extra = [
            ptr::without_provenance_mut(api::EXTRA_BUFFER),
            arguments,
            ptr::without_provenance_mut(api::EXTRA_SIZE),
            (&raw mut bytes).cast(),
            ptr::without_provenance_mut(api::EXTRA_END),
        ];
        let ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]) =
            (launch.sizes.grid(), launch.sizes.block());
        let stream = current_stream(device);
        self.streams.note(stream);
        // SAFETY: the driver copies the arguments before it returns; the caller guarantees them.
        let status = unsafe {
            (self.api.hipModuleLaunchKernel)(
                self.function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                launch.sizes.dynamic_shared_bytes,
                stream,
                ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        if failure::is_done(status) { Ok(()) } else { Err(self.launch_error(launch, status)) }
    }

    #[cold]
    fn launch_error(&self, launch: &Launch<'_>, status: Status) -> Error {
        let (grid, block) = (launch.sizes.grid(), launch.sizes.block());
        plain_error!(
            INTERNAL_ERROR,
            "ROCM HIP Error: hipModuleLaunchKernel failed with error: {}\n grid=({},{},{}), block=({},{},{})",
            self.api.text(status),
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2]
        )
    }
}
