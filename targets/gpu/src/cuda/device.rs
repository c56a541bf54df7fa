//! A device and its primary context.

use core::ffi::{c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::error::Result;
use ferrite_core::{Any, String};

use super::api::{self, Api, DeviceNumber, Handle};
use super::failure::{done, made};
use crate::workspace::Workspaces;

/// A device.
pub(super) struct Device {
    pub(super) api: &'static Api,
    pub(super) id: i32,
    pub(super) number: DeviceNumber,
    /// The primary context, null until it is retained; kept for the life of the process.
    context: AtomicPtr<core::ffi::c_void>,
    retaining: Mutex<()>,
    pub(super) workspaces: Workspaces,
}

impl Device {
    /// A device whose context is not retained yet.
    pub(super) const fn new(api: &'static Api, id: i32, number: DeviceNumber) -> Device {
        let context = AtomicPtr::new(ptr::null_mut());
        Device { api, id, number, context, retaining: Mutex::new(()), workspaces: Workspaces::new() }
    }

    /// Whether this is the primary context of the device; `false` for null.
    #[inline]
    pub(super) fn has_context(&self, context: Handle) -> bool {
        !context.is_null() && ptr::eq(self.context.load(Ordering::Relaxed), context)
    }

    /// The primary context, which is retained once.
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

    /// Makes the primary context the current one of this thread.
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn make_current(&self) -> Result<()> {
        let context = self.context()?;
        // SAFETY: the context is retained.
        unsafe { made!(self.api, cuCtxSetCurrent(context)) }
    }

    /// Makes the primary context current until the result is dropped.
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
        // No context means device 0, which its context does, too.
        let stays = before.is_null() && self.id == 0;
        Ok(Entered { api: self.api, before: (!stays).then_some(before) })
    }

    /// Makes the primary context current to give something up, as far as that is possible. None when it is not.
    pub(super) fn enter_to_release(&self) -> Option<Entered> {
        match self.enter() {
            Ok(entered) => Some(entered),
            // The context that was current before is unknown then, and stays away.
            Err(_) => self.make_current().ok().map(|()| Entered { api: self.api, before: None }),
        }
    }

    /// The value of an attribute, or None.
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
                String::format(format_args!("{}.{}", version / 1000, version % 1000 / 10)).map(Any::from)
            }
            Attribute::L2CacheBytes => number(api::L2_CACHE_SIZE),
            Attribute::TotalGlobalMemory => self.total_memory().map(|bytes| (bytes as i64).into()),
            Attribute::AvailableGlobalMemory => self.memory_info().map(|(free, _)| (free as i64).into()),
            _ => Ok(Any::NONE),
        }
    }

    fn number_of(&self, attribute: c_int) -> Result<i64> {
        let mut value = 0;
        // SAFETY: the driver writes the number.
        unsafe { made!(self.api, cuDeviceGetAttribute(&mut value, attribute, self.number))? };
        Ok(value.into())
    }

    /// The compute capability, such as (9, 0).
    ///
    /// # Errors
    /// Errors of the driver.
    pub(super) fn capability(&self) -> Result<(i64, i64)> {
        Ok((self.number_of(api::COMPUTE_CAPABILITY_MAJOR)?, self.number_of(api::COMPUTE_CAPABILITY_MINOR)?))
    }

    fn name(&self) -> Result<String> {
        let mut name = [0u8; 256];
        let place = name.as_mut_ptr().cast::<c_char>();
        // SAFETY: the driver writes at most so many bytes.
        unsafe { made!(self.api, cuDeviceGetName(place, name.len() as c_int, self.number))? };
        String::from_bytes(name.split(|byte| *byte == 0).next().unwrap_or_default())
    }

    /// The extents of a block at most, such as `[1024, 1024, 64]`.
    fn block_extents(&self) -> Result<String> {
        let extent = |axis| self.number_of(api::MAX_BLOCK_DIM_X + axis);
        String::format(format_args!("[{}, {}, {}]", extent(0)?, extent(1)?, extent(2)?))
    }

    /// The version of CUDA that the driver speaks: 12040 for 12.4.
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

    /// Bytes of memory that are free, and all of them.
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

    /// Waits for a stream, null for the default one.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The stream must be null or one of the device.
    pub(super) unsafe fn synchronize(&self, stream: Handle) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: the caller's promise.
        unsafe { done!(self.api, cuStreamSynchronize(stream)) }
    }
}

/// A context that is current until this is dropped; then the one before is, again.
pub(super) struct Entered {
    api: &'static Api,
    before: Option<Handle>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the context was current, and is not destroyed while a thread works on it. Errors do not matter here.
            unsafe { (self.api.cuCtxSetCurrent)(before) };
        }
    }
}
