//! ROCm back end: code objects loaded by HIP, launched on the streams of `TVMFFIEnvSetStream`.
//!
//! | file | content |
//! |---|---|
//! | `api` | functions of the driver |
//! | `platform` | the driver with its devices, and the current device of a thread |
//! | `attributes` | attributes of a device |
//! | `kernel` | code objects and their kernels |
//! | `memory`, `pool` | device memory, pinned host memory, copies; the driver's functions for pools of memory |
//! | `stream`, `event`, `graph` | streams, events and recorded commands |
//! | `pinned` | back end of pinned host memory, a device type of its own |
//! | `failure` | errors of the driver |

mod api;
mod attributes;
mod event;
mod failure;
mod graph;
mod kernel;
mod memory;
mod pinned;
mod platform;
mod pool;
mod stream;

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use core::time::Duration;

use ferrite_alloc_ext::device::{Attribute, Backend, Region};
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, plain_ensure, static_function};

use crate::allocation::{StreamDriver, order_streams};
use crate::driver::{Driver, Source};
use crate::elf;
use crate::launch::Launch;
use crate::payload::{Layout, Payload};

use kernel::{CodeObject, Kernel};
use memory::Memory;
use platform::{on, on_to_release, platform};

pub use pinned::RocmHost;

/// The ROCm back end.
pub struct Rocm;

/// Global functions `runtime.*` specific to ROCm.
pub const FUNCTIONS: &[StaticFunction] =
    &[static_function!("runtime.get_rocm_stream", current_stream)];

/// Returns the calling thread's stream on its current device.
fn current_stream() -> Result<OpaquePtr> {
    // SAFETY: the code that set the stream guarantees that it is valid while it is set.
    Ok(unsafe { OpaquePtr::new(platform::current_stream(platform()?.current_device()?)) })
}

impl Driver for Rocm {
    const KIND: &'static CStr = c"hip";
    const LAYOUT: &'static Layout = &Layout::HIP;
    const DEVICE_TYPE: i32 = kind::ROCM;

    type Code = ();
    type Loaded = CodeObject;
    type Kernel = Kernel;

    fn prepare(payload: &Payload) -> Result<()> {
        let format = payload.format();
        plain_ensure!(format == b"hsaco", INTERNAL_ERROR, "Unknown ROCm format {}", format);
        elf::check("hip", payload.code())
    }

    #[inline]
    fn current_device() -> Result<i32> {
        platform()?.current_device()
    }

    fn load(source: &Source<'_, Rocm>, device: i32) -> Result<CodeObject> {
        CodeObject::load(device, source.payload.code())
    }

    fn load_kernel(
        source: &Source<'_, Rocm>,
        loaded: &CodeObject,
        kernel: usize,
        _device: i32,
    ) -> Result<Kernel> {
        loaded.kernel(&source.payload.c_name_of(&source.payload.kernels()[kernel])?)
    }

    #[inline]
    unsafe fn launch(kernel: &Kernel, device: i32, launch: &Launch<'_>) -> Result<()> {
        // SAFETY: the caller guarantees the values.
        unsafe { kernel.launch(device, launch) }
    }

    fn inspect_source<'a>(source: &Source<'a, Rocm>, format: &[u8]) -> &'a [u8] {
        if format == b"hsaco" { source.payload.code() } else { b"" }
    }
}

// SAFETY: memory, streams, events and graphs are those of the driver, which checks device ids and
// is safe to call from several threads.
unsafe impl Backend for Rocm {
    fn device_type(&self) -> i32 {
        kind::ROCM
    }

    fn set_device(&self, id: i32) -> Result<()> {
        let platform = platform()?;
        platform.device(id)?;
        platform.select(id)
    }

    fn allocate(&self, id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void> {
        memory::allocate(id, bytes, alignment)
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { memory::free(id, data) };
    }

    fn release_unused_memory(&self, id: i32) -> Result<()> {
        memory::trim(id)
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { memory::copy(from, to, bytes, stream) }
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { stream::synchronize(id, stream) }
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        match platform().and_then(|platform| platform.device(id).map(|_| platform)) {
            Ok(platform) => attributes::get(platform, id, attribute),
            Err(_) if attribute == Attribute::Exists => Ok(0i64.into()),
            Err(error) => Err(error),
        }
    }

    fn create_stream(&self, id: i32) -> Result<*mut c_void> {
        stream::create(id, false)
    }

    fn create_recording_stream(&self, id: i32) -> Result<*mut c_void> {
        stream::create(id, true)
    }

    unsafe fn free_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { stream::destroy(id, stream) }
    }

    unsafe fn order_streams(&self, id: i32, before: *mut c_void, after: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { order_streams(&on(id)?, before, after) }
    }

    /// Does nothing: HIP has no current stream of its own.
    unsafe fn set_stream(&self, id: i32, _stream: *mut c_void) -> Result<()> {
        platform()?.device(id).map(drop)
    }

    fn create_event(&self, id: i32, timing: bool) -> Result<NonNull<c_void>> {
        on(id)?.create_event(timing)
    }

    unsafe fn free_event(&self, id: i32, event: NonNull<c_void>) {
        if let Some(device) = on_to_release(id) {
            // SAFETY: the caller's promise.
            unsafe { device.destroy_event(event) };
        }
    }

    unsafe fn record_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { on(id)?.record(event, stream) }
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { on(id)?.wait(event, stream) }
    }

    unsafe fn synchronize_event(&self, id: i32, event: NonNull<c_void>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { event::synchronize(id, event) }
    }

    unsafe fn elapsed(
        &self,
        id: i32,
        start: NonNull<c_void>,
        end: NonNull<c_void>,
    ) -> Result<Option<Duration>> {
        // SAFETY: the caller's promise.
        unsafe { event::elapsed(id, start, end) }
    }

    fn has_graphs(&self) -> bool {
        true
    }

    unsafe fn is_recording(&self, id: i32, stream: *mut c_void) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe { graph::is_recording(id, stream) }
    }

    unsafe fn record_graph(
        &self,
        id: i32,
        stream: *mut c_void,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<NonNull<c_void>> {
        // SAFETY: the caller's promise.
        unsafe { graph::record(id, stream, body) }
    }

    unsafe fn launch_graph(
        &self,
        id: i32,
        graph: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { graph::launch(id, graph, stream) }
    }

    unsafe fn free_graph(&self, _id: i32, graph: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { graph::destroy(graph) };
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let device = platform()?.device(id)?;
        device.workspaces.allocate(&Memory { id }, bytes, platform::current_stream(id))
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        platform()?.device(id)?.workspaces.free::<Memory>(workspace, platform::current_stream(id))
    }
}
