//! A CUDA device and its primary context.

use core::ffi::{c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

use super::api::{self, Api, DeviceNumber, Handle};
use super::failure::{done, made};
use crate::allocation::Pool;
use crate::workspace::Workspaces;

/// A CUDA device.
pub(super) struct Device {
    pub(super) api: &'static Api,
    pub(super) id: i32,
    pub(super) number: DeviceNumber,
    /// Primary context; null until retained. Never released.
    context: AtomicPtr<core::ffi::c_void>,
    retaining: Mutex<()>,
    pub(super) workspaces: Workspaces,
    pub(super) pool: Pool,
}

impl Device {
    /// Creates a device whose context is not retained yet.
    pub(super) const fn new(api: &'static Api, id: i32, number: DeviceNumber) -> Device {
        let context = AtomicPtr::new(ptr::null_mut());
        Device {
            api,
            id,
            number,
            context,
            retaining: Mutex::new(()),
            workspaces: Workspaces::new(),
            pool: Pool::new(),
        }
    }

    /// Returns `true` if this is the device's primary context; `false` for null.
    #[inline]
    pub(super) fn has_context(&self, context: Handle) -> bool {
        !context.is_null() && ptr::eq(self.context.load(Ordering::Relaxed), context)
    }

    /// Returns the primary context, which the first call retains.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn context(&self) -> Result<Handle> {
        let context = self.context.load(Ordering::Acquire);
        if context.is_null() { self.retain() } else { Ok(context) }
    }

    #[cold]
    fn retain(&self) -> Result<Handle> {
        let _retaining = self.retaining.lock().unwrap_or_else(PoisonError::into_inner);
        let mut context = self.context.load(Ordering::Acquire);
        if context.is_null() {
            // SAFETY: the driver writes the handle.
            unsafe { made!(self.api, cuDevicePrimaryCtxRetain(&mut context, self.number))? };
            self.context.store(context, Ordering::Release);
        }
        Ok(context)
    }

    /// Makes the primary context current on this thread.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn make_current(&self) -> Result<()> {
        let context = self.context()?;
        // SAFETY: the context is retained.
        unsafe { made!(self.api, cuCtxSetCurrent(context)) }
    }

    /// Makes the primary context current on this thread until the result is dropped.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn enter(&self) -> Result<Entered> {
        let context = self.context()?;
        let mut before = ptr::null_mut();
        // SAFETY: the driver writes the handle.
        unsafe { made!(self.api, cuCtxGetCurrent(&mut before))? };
        if ptr::eq(before, context) {
            return Ok(Entered { api: self.api, before: None });
        }
        self.make_current()?;
        // Without a current context, the thread works on device 0; the device's own context means
        // the same, so it stays current.
        let stays = before.is_null() && self.id == 0;
        Ok(Entered { api: self.api, before: (!stays).then_some(before) })
    }

    /// Makes the primary context current to release a resource. Returns `None` if that fails.
    pub(super) fn enter_to_release(&self) -> Option<Entered> {
        match self.enter() {
            Ok(entered) => Some(entered),
            // The previous context is unknown, so it cannot be restored.
            Err(_) => self.make_current().ok().map(|()| Entered { api: self.api, before: None }),
        }
    }

    /// Returns the value of an attribute; `None` if CUDA has no such attribute.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn attribute(&self, attribute: Attribute) -> Result<Any> {
        let number = |attribute| self.number_of(attribute).map(Any::from);
        match attribute {
            Attribute::MaxThreadsPerBlock => number(api::MAX_THREADS_PER_BLOCK),
            Attribute::WarpSize => number(api::WARP_SIZE),
            Attribute::SharedMemoryPerBlock => number(api::MAX_SHARED_MEMORY_PER_BLOCK),
            Attribute::ComputeVersion => {
                let (major, minor) = self.capability()?;
                String::format(format_args!("{major}.{minor}")).map(Any::from)
            }
            Attribute::DeviceName => self.name().map(Any::from),
            Attribute::MaxClockRate => number(api::CLOCK_RATE),
            Attribute::MultiProcessorCount => number(api::MULTIPROCESSOR_COUNT),
            Attribute::MaxThreadDimensions => self.block_extents().map(Any::from),
            Attribute::MaxRegistersPerBlock => number(api::MAX_REGISTERS_PER_BLOCK),
            Attribute::ApiVersion => self.version().map(|version| i64::from(version).into()),
            Attribute::DriverVersion => {
                let version = self.version()?;
                String::format(format_args!("{}.{}", version / 1000, version % 1000 / 10))
                    .map(Any::from)
            }
            Attribute::L2CacheBytes => number(api::L2_CACHE_SIZE),
            Attribute::TotalGlobalMemory => self.total_memory().map(|bytes| (bytes as i64).into()),
            Attribute::AvailableGlobalMemory => {
                self.memory_info().map(|(free, _)| (free as i64).into())
            }
            _ => Ok(Any::NONE),
        }
    }

    pub(super) fn number_of(&self, attribute: c_int) -> Result<i64> {
        let mut value = 0;
        // SAFETY: the driver writes the number.
        unsafe { made!(self.api, cuDeviceGetAttribute(&mut value, attribute, self.number))? };
        Ok(value.into())
    }

    /// Returns the compute capability, such as (9, 0).
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn capability(&self) -> Result<(i64, i64)> {
        Ok((
            self.number_of(api::COMPUTE_CAPABILITY_MAJOR)?,
            self.number_of(api::COMPUTE_CAPABILITY_MINOR)?,
        ))
    }

    fn name(&self) -> Result<String> {
        let mut name = [0u8; 256];
        let out = name.as_mut_ptr().cast::<c_char>();
        // SAFETY: the driver writes at most the number of bytes passed.
        unsafe { made!(self.api, cuDeviceGetName(out, name.len() as c_int, self.number))? };
        String::from_bytes(name.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    /// Returns the maximum extents of a block, such as `[1024, 1024, 64]`.
    fn block_extents(&self) -> Result<String> {
        let extent = |axis| self.number_of(api::MAX_BLOCK_DIM_X + axis);
        String::format(format_args!("[{}, {}, {}]", extent(0)?, extent(1)?, extent(2)?))
    }

    /// Returns the CUDA version that the driver supports: 12040 for 12.4.
    fn version(&self) -> Result<c_int> {
        let mut version = 0;
        // SAFETY: the driver writes the number.
        unsafe { made!(self.api, cuDriverGetVersion(&mut version))? };
        Ok(version)
    }

    fn total_memory(&self) -> Result<usize> {
        let mut bytes = 0;
        // SAFETY: the driver writes the number.
        unsafe { made!(self.api, cuDeviceTotalMem_v2(&mut bytes, self.number))? };
        Ok(bytes)
    }

    /// Returns the free and the total memory in bytes.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn memory_info(&self) -> Result<(usize, usize)> {
        let _entered = self.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the driver writes the numbers for the current context.
        unsafe { made!(self.api, cuMemGetInfo_v2(&mut free, &mut total))? };
        Ok((free, total))
    }

    /// Waits for a stream; null is the default stream.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    pub(super) unsafe fn synchronize(&self, stream: Handle) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { done!(self.api, cuStreamSynchronize(stream)) }
    }
}

/// Guard of a current context: restores the previous context when dropped.
pub(super) struct Entered {
    api: &'static Api,
    before: Option<Handle>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the context was current, and is not destroyed while a thread uses it. Errors
            // are ignored.
            unsafe { (self.api.cuCtxSetCurrent)(before) };
        }
    }
}
