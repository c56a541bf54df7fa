//! Vulkan back end: SPIR-V modules, launched on one in-order queue per device.
//!
//! | file | content |
//! |---|---|
//! | `api` | functions of the driver |
//! | `platform`, `adapter`, `device` | selection of devices, capabilities of an adapter, and an open device |
//! | `queue` | batches of commands, and waits |
//! | `kernel`, `descriptors` | pipelines, and descriptor sets where push descriptors are not supported |
//! | `memory`, `heap`, `spans` | buffers and copies, the allocator of device memory, and its free list |
//! | `event` | events, as batch numbers |
//! | `properties` | attributes of devices |
//! | `failure` | errors of the driver |

mod adapter;
mod api;
mod descriptors;
mod device;
mod event;
mod failure;
mod heap;
mod kernel;
mod memory;
mod platform;
mod properties;
mod queue;
mod spans;

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{Attribute, Backend, Region};
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, plain_ensure, static_function};

use crate::driver::{Driver, Source};
use crate::launch::Launch;
use crate::payload::{Layout, Payload};
use crate::spirv::{self, Shader};

use device::Device;
use event::Event;
use failure::raise;
use kernel::Kernel;
pub use platform::use_loader;

/// The Vulkan back end.
pub struct Vulkan;

/// `device_api.vulkan.get_target_property`, by which TVM's Python package queries a device's
/// properties.
pub(crate) const TARGET_PROPERTY: StaticFunction =
    static_function!("device_api.vulkan.get_target_property", properties::target_property);

std::thread_local! {
    /// The calling thread's current device, on which it launches kernels.
    static CURRENT: Cell<i32> = const { Cell::new(0) };
}

impl Driver for Vulkan {
    const KIND: &'static CStr = c"vulkan";
    const LAYOUT: &'static Layout = &Layout::VULKAN;
    const DEVICE_TYPE: i32 = kind::VULKAN;

    /// Validated shaders, in the order of the kernels.
    type Code = Buffer<Shader>;
    type Loaded = ();
    type Kernel = Kernel;

    fn prepare(payload: &Payload) -> Result<Buffer<Shader>> {
        let format = payload.format();
        plain_ensure!(format == b"vulkan", INTERNAL_ERROR, "Unknown Vulkan format {}", format);
        spirv::read_shaders(payload)
    }

    fn current_device() -> Result<i32> {
        Ok(CURRENT.get())
    }

    fn load(_: &Source<'_, Vulkan>, device: i32) -> Result<()> {
        platform::device(device).map(drop)
    }

    fn load_kernel(
        source: &Source<'_, Vulkan>,
        _: &(),
        kernel: usize,
        device: i32,
    ) -> Result<Kernel> {
        let (record, shader) = (&source.payload.kernels()[kernel], &source.code[kernel]);
        let (code, name) = (source.payload.code_of(record), source.payload.name_of(record));
        Kernel::new(platform::device(device)?, shader, code, name)
    }

    #[inline]
    unsafe fn launch(kernel: &Kernel, _device: i32, launch: &Launch<'_>) -> Result<()> {
        // SAFETY: the caller guarantees the values.
        unsafe { kernel.launch(launch) }
    }

    /// Returns an empty string, since shaders are binary.
    fn inspect_source<'a>(_: &Source<'a, Vulkan>, _format: &[u8]) -> &'a [u8] {
        b""
    }
}

// SAFETY: memory belongs to a buffer of the device until it is freed; queues are used under locks,
// and events are records of this crate.
unsafe impl Backend for Vulkan {
    fn device_type(&self) -> i32 {
        kind::VULKAN
    }

    fn set_device(&self, id: i32) -> Result<()> {
        platform::device(id)?;
        CURRENT.set(id);
        Ok(())
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        memory::allocate(platform::device(id)?, bytes).map(NonNull::as_ptr)
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        if let (Ok(device), Some(data)) = (platform::device(id), NonNull::new(data)) {
            // SAFETY: the caller's promise.
            unsafe { memory::free(device, data) };
        }
    }

    fn release_unused_memory(&self, id: i32) -> Result<()> {
        memory::trim(platform::device(id)?)
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        only_default(stream)?;
        // SAFETY: the caller's promise.
        unsafe { memory::copy(from, to, bytes) }
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        only_default(stream)?;
        raise(platform::device(id)?.finish())
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        if attribute == Attribute::Exists {
            return Ok(i64::from(platform::adapter(id).is_ok()).into());
        }
        properties::attribute(platform::adapter(id)?, attribute)
    }

    fn create_event(&self, id: i32, _timing: bool) -> Result<NonNull<c_void>> {
        Event::create(platform::device(id)?)
    }

    unsafe fn free_event(&self, _id: i32, event: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { Event::free(event) };
    }

    unsafe fn record_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        only_default(stream)?;
        platform::device(id)?;
        // SAFETY: the caller's promise.
        unsafe { Event::from_handle(event) }.record();
        Ok(())
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        only_default(stream)?;
        let device = platform::device(id)?;
        // SAFETY: the caller's promise.
        raise(unsafe { Event::from_handle(event) }.hold_back(device))
    }

    unsafe fn synchronize_event(&self, id: i32, event: NonNull<c_void>) -> Result<()> {
        platform::device(id)?;
        // SAFETY: the caller's promise.
        raise(unsafe { Event::from_handle(event) }.synchronize())
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let device = platform::device(id)?;
        device.workspaces.allocate(device, bytes, ptr::null_mut())
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        platform::device(id)?.workspaces.free::<Device>(workspace, ptr::null_mut())
    }
}

fn only_default(stream: *mut c_void) -> Result<()> {
    plain_ensure!(
        stream.is_null(),
        RUNTIME_ERROR,
        "Devices vulkan have no streams beside the default one"
    );
    Ok(())
}
