//! Back end of pinned host memory, which devices copy from and to directly. A device id selects the
//! device whose driver allocates the memory.

use core::ffi::c_void;
use core::ptr::NonNull;

use ferrite_alloc_ext::device::{self, Attribute, Backend, Region};
use ferrite_core::Any;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;

use super::memory::Pinned;
use super::platform::{current_stream, platform};
use super::{Rocm, memory};

/// Back end of pinned host memory.
pub struct RocmHost;

// SAFETY: memory is that of the driver, and addressable by the CPU; there are no streams or events.
unsafe impl Backend for RocmHost {
    fn device_type(&self) -> i32 {
        kind::ROCM_HOST
    }

    fn set_device(&self, id: i32) -> Result<()> {
        Rocm.set_device(id)
    }

    fn allocate(&self, id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void> {
        memory::allocate_pinned(id, bytes, alignment)
    }

    unsafe fn free(&self, _id: i32, data: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { memory::free_pinned(data) };
    }

    /// Delegates the copy to the back end of the device on the other side, unless both sides are
    /// main memory.
    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { device::copy(from, to, bytes, stream) }
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Rocm.synchronize(id, stream) }
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        Rocm.attribute(id, attribute)
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let device = platform()?.device(id)?;
        device.pinned_workspaces.allocate(&Pinned { id }, bytes, current_stream(id))
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        platform()?.device(id)?.pinned_workspaces.free::<Pinned>(workspace, current_stream(id))
    }
}
