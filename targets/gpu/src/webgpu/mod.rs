//! WebGPU back end, on the crate wgpu, which implements it with Vulkan and Metal: shaders in WGSL,
//! one queue per device.
//!
//! | file | content |
//! |---|---|
//! | `adapter`, `device` | selection of adapters, and a device with its queue |
//! | `kernel`, `binding` | pipelines, and cached bind groups |
//! | `numbers`, `buffers` | table of values by numeric handle, and the buffers, whose handles are the `data` of tensors |
//! | `memory`, `staging` | allocations and copies |
//! | `event` | events, as queue submissions |
//! | `code`, `method` | the code of a module, and its functions other than kernels |
//! | `failure` | errors of wgpu |
//!
//! wgpu uses the global allocator, even for each launch, and aborts the process when out of memory.
//! Allocations of this crate report an error.

mod adapter;
mod binding;
mod buffers;
mod code;
mod device;
mod event;
mod failure;
mod kernel;
mod memory;
mod method;
mod numbers;
mod staging;

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{Attribute, Backend, Region};
use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, Function, String, plain_ensure};

use crate::driver::{Driver, Source};
use crate::launch::{Launch, Parameter, write_access};
use crate::payload::{self, Layout, Payload};
use crate::wgsl_source;

use code::Prebuilt;
use device::Device;
use event::Event;
use kernel::{Kernel, KernelSource};

pub use code::{Code, WebGpu};

std::thread_local! {
    /// The calling thread's current device, on which it launches kernels.
    static CURRENT: Cell<i32> = const { Cell::new(0) };
}

impl Driver for WebGpu {
    const KIND: &'static CStr = c"webgpu";
    const LAYOUT: &'static Layout = &Layout::WEBGPU;
    const DEVICE_TYPE: i32 = kind::WEB_GPU;

    type Code = Code;
    /// Empty, since each kernel has a separate shader.
    type Loaded = ();
    type Kernel = Kernel;

    fn prepare(payload: &Payload) -> Result<Code> {
        let mut is_written = Buffer::try_with_capacity(payload.kernels().len())?;
        for kernel in payload.kernels() {
            is_written.try_push(written_buffers(payload, kernel)?)?;
        }
        Ok(Code { is_written, prebuilt: Prebuilt::new() })
    }

    fn current_device() -> Result<i32> {
        Ok(CURRENT.get())
    }

    fn load(_: &Source<'_, WebGpu>, _: i32) -> Result<()> {
        Ok(())
    }

    fn load_kernel(
        source: &Source<'_, WebGpu>,
        (): &(),
        index: usize,
        device: i32,
    ) -> Result<Kernel> {
        let device = adapter::device(device)?;
        let kernel = &source.payload.kernels()[index];
        let is_written = &source.code.is_written[index];
        let (name, wgsl) = (source.payload.name_of(kernel), source.payload.code_of(kernel));
        let scalar_count = kernel.parameters.len() - is_written.len();
        Kernel::compile(device, &KernelSource { name, wgsl, is_written, scalar_count })
    }

    #[inline]
    unsafe fn launch(kernel: &Kernel, _device: i32, launch: &Launch<'_>) -> Result<()> {
        // Handles are validated by lookup, so any values are safe.
        kernel.launch(launch)
    }

    fn method(
        module: &Module,
        source: &Source<'_, WebGpu>,
        name: &[u8],
    ) -> Result<Option<Function>> {
        method::find(module, source, name)
    }

    /// Returns an empty string, since the source is composed on demand by
    /// [`compose_source`](Driver::compose_source).
    fn inspect_source<'a>(_: &Source<'a, WebGpu>, _: &[u8]) -> &'a [u8] {
        b""
    }

    fn compose_source(source: &Source<'_, WebGpu>, format: &[u8]) -> Result<Option<String>> {
        match format {
            b"" | b"wgsl" => wgsl_source::shaders(source.payload).map(Some),
            b"func_info" => wgsl_source::function_map(source.payload).map(Some),
            _ => Ok(None),
        }
    }
}

/// Returns for each buffer of a kernel whether the kernel writes it. Buffers are the first
/// parameters.
fn written_buffers(payload: &Payload, kernel: &payload::Kernel) -> Result<Buffer<bool>> {
    let mut is_written = Buffer::new();
    for tag in payload.tags_of(kernel) {
        if let Some(access) = write_access(tag)? {
            is_written = access;
        }
    }
    let is_buffer = |index: usize| {
        let dtype = kernel.parameters.get(index).copied();
        dtype.is_some_and(|dtype| Parameter::new(dtype, 0).is_ok_and(Parameter::is_handle))
    };
    let buffers = (0..kernel.parameters.len()).filter(|index| is_buffer(*index)).count();
    plain_ensure!(
        is_written.len() == buffers && (0..buffers).all(is_buffer),
        INTERNAL_ERROR,
        "Malformed webgpu module: paramWriteAccess of {} must tell of its {} buffers, which come first",
        payload.name_of(kernel),
        buffers
    );
    Ok(is_written)
}

fn only_default_stream(stream: *mut c_void) -> Result<()> {
    plain_ensure!(
        stream.is_null(),
        RUNTIME_ERROR,
        "Devices webgpu have no streams beside the default one"
    );
    Ok(())
}

// SAFETY: memory belongs to a buffer of the device until it is freed; events are records of this
// crate.
unsafe impl Backend for WebGpu {
    fn device_type(&self) -> i32 {
        kind::WEB_GPU
    }

    fn set_device(&self, id: i32) -> Result<()> {
        adapter::device(id)?;
        CURRENT.set(id);
        Ok(())
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        memory::allocate(adapter::device(id)?, bytes).map(NonNull::as_ptr)
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        if let (Ok(device), Some(data)) = (adapter::device(id), NonNull::new(data)) {
            memory::free(device, data);
        }
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        only_default_stream(stream)?;
        // SAFETY: the caller's promise.
        unsafe { memory::copy(from, to, bytes) }
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        only_default_stream(stream)?;
        adapter::device(id)?.wait(None)
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        if attribute == Attribute::Exists {
            return Ok(i64::from(adapter::device(id).is_ok()).into());
        }
        adapter::device(id)?.attribute(attribute)
    }

    fn create_event(&self, id: i32, _timing: bool) -> Result<NonNull<c_void>> {
        adapter::device(id)?;
        Event::create()
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
        only_default_stream(stream)?;
        // SAFETY: the caller's promise.
        unsafe { Event::of(event) }.record(adapter::device(id)?)
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        only_default_stream(stream)?;
        // SAFETY: the caller's promise.
        unsafe { Event::of(event) }.order(adapter::device(id)?)
    }

    unsafe fn synchronize_event(&self, _id: i32, event: NonNull<c_void>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Event::of(event) }.wait()
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let device = adapter::device(id)?;
        device.workspaces.allocate(device, bytes, ptr::null_mut())
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        adapter::device(id)?.workspaces.free::<Device>(workspace, ptr::null_mut())
    }
}
