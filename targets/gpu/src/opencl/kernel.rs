//! OpenCL kernels, which several threads may launch concurrently.
//!
//! A `cl_kernel` stores its arguments, so two threads must not set them concurrently. Therefore a
//! launch takes exclusive use of a `cl_kernel` and returns it afterwards: the first one by an
//! atomic exchange; further ones, created when threads launch concurrently, from a list.

use core::ffi::c_uint;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{plain_bail, plain_ensure};

use super::api::{self, Handle};
use super::device::Device;
use super::failure;
use super::program::Program;
use crate::forks;
use crate::launch::Launch;

/// A kernel loaded on one device.
pub struct Kernel {
    device: &'static Device,
    program: Program,
    /// Name, with its terminating NUL.
    name: Buffer<u8>,
    /// An idle `cl_kernel`, or null.
    spare: AtomicPtr<core::ffi::c_void>,
    further: Mutex<Buffer<Spare>>,
}

/// An idle `cl_kernel` in the list.
struct Spare(Handle);

// SAFETY: one thread at a time uses a `cl_kernel`.
unsafe impl Send for Spare {}

/// Guard with exclusive use of a `cl_kernel`. Dropping it makes the `cl_kernel` idle again.
struct KernelGuard<'a> {
    kernel: &'a Kernel,
    handle: Handle,
}

impl Drop for KernelGuard<'_> {
    fn drop(&mut self) {
        self.kernel.put_back(self.handle);
    }
}

impl Kernel {
    /// Looks up a kernel in its program.
    ///
    /// # Errors
    /// InternalError if the program does not contain it; MemoryError.
    pub(super) fn new(device: &'static Device, program: Program, name: &[u8]) -> Result<Kernel> {
        plain_ensure!(
            !name.contains(&0),
            INTERNAL_ERROR,
            "The name of a kernel has a NUL byte: {}",
            name
        );
        let mut terminated = Buffer::try_with_capacity(name.len() + 1)?;
        terminated.try_extend_from_slice(name)?;
        terminated.try_push(0)?;
        let kernel = Kernel {
            device,
            program,
            name: terminated,
            spare: AtomicPtr::new(ptr::null_mut()),
            further: Mutex::new(Buffer::new()),
        };
        let first = kernel.create()?;
        kernel.put_back(first);
        Ok(kernel)
    }

    /// Returns the program of the kernel.
    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    fn create(&self) -> Result<Handle> {
        let mut status = api::SUCCESS;
        // SAFETY: the name ends in a NUL.
        let handle = unsafe {
            (self.device.api.clCreateKernel)(
                self.program.handle(),
                self.name.as_ptr().cast(),
                &mut status,
            )
        };
        failure::check(status)?;
        Ok(handle)
    }

    #[inline]
    fn take(&self) -> Result<KernelGuard<'_>> {
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        let handle = if spare.is_null() { self.take_further()? } else { spare };
        Ok(KernelGuard { kernel: self, handle })
    }

    #[cold]
    fn take_further(&self) -> Result<Handle> {
        let further = self.list().pop();
        match further {
            Some(Spare(handle)) => Ok(handle),
            None => self.create(),
        }
    }

    fn list(&self) -> MutexGuard<'_, Buffer<Spare>> {
        self.further.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn put_back(&self, handle: Handle) {
        let empty = ptr::null_mut();
        if self.spare.compare_exchange(empty, handle, Ordering::Release, Ordering::Relaxed).is_err()
        {
            self.put_back_further(handle);
        }
    }

    #[cold]
    fn put_back_further(&self, handle: Handle) {
        let mut list = self.list();
        let has_capacity = list.reserve_silently(1).is_ok();
        if !has_capacity || list.try_push(Spare(handle)).is_err() {
            drop(list);
            // SAFETY: the kernel is owned; queued launches retain it.
            unsafe { (self.device.api.clReleaseKernel)(handle) };
        }
    }

    /// Queues a launch.
    ///
    /// # Errors
    /// Errors of the driver; ValueError if the work sizes overflow.
    ///
    /// # Safety
    /// The values must have the kernel's parameter types; handles must be descriptors of memory on
    /// this device, or null.
    pub(super) unsafe fn launch(&self, launch: &Launch<'_>) -> Result<()> {
        forks::check()?;
        let taken = self.take()?;
        let api = self.device.api;
        for (index, (parameter, value)) in launch.parameters().enumerate() {
            // A handle is the address of a descriptor that begins with the `cl_mem`; a null handle
            // stands for a null `cl_mem`.
            let value = match (parameter.is_handle(), *value) {
                (true, descriptor @ 1..) => ptr::with_exposed_provenance(descriptor as usize),
                _ => ptr::from_ref(value).cast(),
            };
            // SAFETY: the size is that of a value, or of the first field of a descriptor.
            let status = unsafe {
                (api.clSetKernelArg)(taken.handle, index as c_uint, parameter.bytes(), value)
            };
            failure::check(status)?;
        }
        let (grid, block) = (launch.sizes.grid(), launch.sizes.block());
        let (mut global, mut local) = ([1usize; 3], [1usize; 3]);
        for axis in 0..3 {
            local[axis] = block[axis] as usize;
            global[axis] = match (grid[axis] as usize).checked_mul(local[axis]) {
                Some(size) => size,
                None => plain_bail!(VALUE_ERROR, "The work size along axis {} overflows", axis),
            };
        }
        // SAFETY: the sizes have three elements, and no event is requested. The driver retains what
        // the queued kernel needs.
        let status = unsafe {
            (api.clEnqueueNDRangeKernel)(
                self.device.queue,
                taken.handle,
                launch.plan.work_dimensions(),
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        failure::check(status)
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        let release = self.device.api.clReleaseKernel;
        let spare = *self.spare.get_mut();
        let further = self.further.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the kernels are owned, and no launch is in progress; queued launches retain their
        // kernel.
        unsafe {
            if !spare.is_null() {
                release(spare);
            }
            while let Some(Spare(handle)) = further.pop() {
                release(handle);
            }
        }
    }
}
