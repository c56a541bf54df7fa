//! Substitute for Metal on other platforms. There are no devices, so most functions are
//! unreachable.

use core::convert::Infallible;
use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_alloc_ext::device::Attribute;
use ferrite_core::error::Result;
use ferrite_core::{Any, plain_bail};

use super::code::Code;
use crate::launch::Launch;

/// A Metal device: an uninhabited type, since there are no devices.
pub struct Device(Infallible);

/// A Metal kernel: an uninhabited type, since there are no devices.
pub struct Kernel(Infallible);

/// Returns an error, since there are no devices.
///
/// # Errors
/// RuntimeError, always.
pub(super) fn device(_id: i32) -> Result<&'static Device> {
    plain_bail!(RUNTIME_ERROR, "Metal is Apple's: there are no devices of it on this system")
}

impl Device {
    pub(super) fn allocate(&self, _bytes: usize) -> Result<NonNull<c_void>> {
        match self.0 {}
    }

    pub(super) unsafe fn free(&self, _memory: NonNull<c_void>) {
        match self.0 {}
    }

    pub(super) fn allocate_workspace(
        &self,
        _bytes: usize,
        _stream: *mut c_void,
    ) -> Result<NonNull<c_void>> {
        match self.0 {}
    }

    pub(super) fn free_workspace(
        &self,
        _workspace: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(super) unsafe fn read(
        &self,
        _stream: *mut c_void,
        _buffer: NonNull<c_void>,
        _offset: usize,
        _to: *mut u8,
        _bytes: usize,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(super) unsafe fn write(
        &self,
        _stream: *mut c_void,
        _from: *const u8,
        _buffer: NonNull<c_void>,
        _offset: usize,
        _bytes: usize,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(super) unsafe fn copy(
        &self,
        _stream: *mut c_void,
        _from: (NonNull<c_void>, usize),
        _to: (NonNull<c_void>, usize),
        _bytes: usize,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(super) unsafe fn synchronize(&self, _stream: *mut c_void) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn create_stream(&'static self) -> Result<*mut c_void> {
        match self.0 {}
    }

    pub(super) unsafe fn free_stream(&self, _stream: *mut c_void) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn create_event(&self) -> Result<NonNull<c_void>> {
        match self.0 {}
    }

    pub(super) unsafe fn record_event(
        &self,
        _event: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(super) unsafe fn wait_for_event(
        &self,
        _event: NonNull<c_void>,
        _stream: *mut c_void,
    ) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn attribute(&self, _attribute: Attribute) -> Result<Any> {
        match self.0 {}
    }

    pub(super) fn load(&self, _name: &[u8], _code: Code<'_>) -> Result<Kernel> {
        match self.0 {}
    }
}

/// Does nothing, since there are no events.
///
/// # Safety
/// Must never be called with a live event.
pub(super) unsafe fn free_event(_event: NonNull<c_void>) {}

/// Returns an error, since there are no events.
///
/// # Errors
/// RuntimeError, always.
///
/// # Safety
/// Must never be called with a live event.
pub(super) unsafe fn synchronize_event(_event: NonNull<c_void>) -> Result<()> {
    device(0).map(drop)
}

impl Kernel {
    pub(super) fn max_threads(&self) -> usize {
        match self.0 {}
    }

    pub(super) unsafe fn launch(
        &self,
        _stream: *mut c_void,
        _launch: &Launch<'_>,
        _slots: &[u8],
    ) -> Result<()> {
        match self.0 {}
    }
}
