//! Loaded modules and kernels, by device. Each is loaded at its first launch, and afterwards found
//! without a lock.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

use ferrite_core::error::Result;
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::Mutex;

use crate::driver::{Driver, MAX_DEVICES, Source};
use crate::forks;
use crate::owned::Owned;

/// A value for each device, created on first use and never changed.
struct PerDevice<T>([AtomicPtr<T>; MAX_DEVICES]);

impl<T> PerDevice<T> {
    const fn new() -> PerDevice<T> {
        PerDevice([const { AtomicPtr::new(ptr::null_mut()) }; MAX_DEVICES])
    }

    fn get(&self, device: usize) -> Option<&T> {
        // SAFETY: the pointer is null, or a value that lives as long as `self`.
        unsafe { self.0.get(device)?.load(Ordering::Acquire).as_ref() }
    }

    /// Stores a value in an empty slot. The caller must hold the module's lock.
    fn set(&self, device: usize, value: Owned<T>) -> Option<&T> {
        self.0.get(device)?.store(value.into_raw().as_ptr(), Ordering::Release);
        self.get(device)
    }
}

impl<T> Drop for PerDevice<T> {
    fn drop(&mut self) {
        for value in &mut self.0 {
            if let Some(value) = NonNull::new(*value.get_mut()) {
                // SAFETY: `set` transferred the ownership, and no other reference is left.
                let value = unsafe { Owned::from_raw(value) };
                // In a forked child, the driver must not be used, not even to free.
                if forks::is_child() { core::mem::forget(value) } else { drop(value) }
            }
        }
    }
}

/// Loaded state of a module, by device.
pub(super) struct Loading<D: Driver> {
    /// Declared before the modules, since kernels must be dropped first.
    kernels: Buffer<PerDevice<D::Kernel>>,
    modules: PerDevice<D::Loaded>,
    /// Held while a driver loads. A forked child never takes it, see [`forks`].
    lock: Mutex<()>,
}

impl<D: Driver> Loading<D> {
    /// Creates the state of a module that is not loaded on any device.
    ///
    /// # Errors
    /// MemoryError.
    pub(super) fn new(kernel_count: usize) -> Result<Self> {
        let mut kernels = Buffer::try_with_capacity(kernel_count)?;
        for _ in 0..kernel_count {
            kernels.try_push(PerDevice::new())?;
        }
        Ok(Loading { kernels, modules: PerDevice::new(), lock: Mutex::new(()) })
    }

    /// Returns a kernel loaded on a device. The first call loads it.
    ///
    /// # Errors
    /// Same errors as [`DeviceModule::with_kernel`](super::DeviceModule::with_kernel).
    #[inline]
    pub(super) fn kernel(
        &self,
        source: &Source<'_, D>,
        kernel: usize,
        device: i32,
    ) -> Result<&D::Kernel> {
        // A negative id becomes an index beyond the table.
        match self.kernels[kernel].get(device as usize) {
            Some(kernel) => Ok(kernel),
            None => self.load(source, kernel, device),
        }
    }

    #[cold]
    fn load(&self, source: &Source<'_, D>, kernel: usize, device: i32) -> Result<&D::Kernel> {
        let index = match usize::try_from(device) {
            Ok(index) if index < MAX_DEVICES => index,
            _ => {
                plain_bail!(VALUE_ERROR, "Device id {} is not in 0 to {}", device, MAX_DEVICES - 1)
            }
        };
        // Before the lock is taken, so that a child forked meanwhile does not wait for it.
        forks::begin_use()?;
        self.lock.with_mut(|()| self.load_locked(source, kernel, device, index))
    }

    /// Loads a kernel unless another thread has. The caller must hold the lock.
    fn load_locked(
        &self,
        source: &Source<'_, D>,
        kernel: usize,
        device: i32,
        index: usize,
    ) -> Result<&D::Kernel> {
        if let Some(kernel) = self.kernels[kernel].get(index) {
            return Ok(kernel);
        }
        let module = match self.modules.get(index) {
            Some(module) => Some(module),
            None => self.modules.set(index, Owned::new(D::load(source, device)?)?),
        };
        let loaded = match module {
            Some(module) => Owned::new(D::load_kernel(source, module, kernel, device)?)?,
            None => plain_bail!(INTERNAL_ERROR, "The module is not on device {}", device),
        };
        match self.kernels[kernel].set(index, loaded) {
            Some(kernel) => Ok(kernel),
            None => plain_bail!(INTERNAL_ERROR, "The kernel is not on device {}", device),
        }
    }
}
