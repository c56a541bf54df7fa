//! CUDA back end: modules of PTX, machine code or source, launched in the primary context on the
//! environment's stream.
//!
//! | file | content |
//! |---|---|
//! | `api` | functions of the driver |
//! | `platform`, `device` | the driver, its devices with their primary contexts, and each thread's current device |
//! | `image`, `module`, `kernel` | loadable code, loaded modules, and launches |
//! | `source`, `nvrtc`, `headers` | source code and its compilation |
//! | `memory`, `pool` | memory and copies; the driver's functions for pools of memory |
//! | `stream`, `event`, `graph` | streams, events and recorded commands |
//! | `cublaslt` | matrix products by NVIDIA's library |
//! | `tensor_map`, `functions` | global functions |
//! | `failure` | errors of the driver |

mod api;
mod cublaslt;
mod device;
mod event;
mod failure;
mod functions;
mod graph;
mod headers;
mod image;
mod kernel;
mod memory;
mod module;
mod nvrtc;
mod platform;
mod pool;
mod source;
mod stream;
mod tensor_map;

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use core::time::Duration;

use ferrite_alloc_ext::device::{Attribute, Backend, Region};
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, Bytes, plain_bail};

use crate::allocation::{StreamDriver, order_streams};
use crate::driver::{Driver, Source};
use crate::launch::Launch;
use crate::payload::{Layout, Payload};
use crate::set_once::SetOnce;

pub(crate) use nvrtc::NVRTC_OPENING;

use device::Device;
use image::Format;
use kernel::Kernel;
use module::Module;

pub use cublaslt::CUBLASLT_FUNCTIONS;
pub use functions::FUNCTIONS;

/// The CUDA back end.
pub struct Cuda;

/// Back end of pinned host memory: memory that CUDA devices access directly, with a separate device
/// type.
pub struct CudaHost;

/// The code of a module.
pub enum Code {
    /// Loadable code, as contained in the payload.
    Given(Format),
    /// Source in the payload, and the result of its compilation.
    Source(SetOnce<(Format, Bytes)>),
}

impl Code {
    /// Returns the code in a loadable format. Compiles source on the first call.
    ///
    /// # Errors
    /// Errors of the compiler.
    fn compiled<'a>(&'a self, payload: &'a Payload) -> Result<(Format, &'a [u8])> {
        let compiled = match self {
            Code::Given(format) => return Ok((*format, payload.code())),
            Code::Source(compiled) => compiled,
        };
        let (format, code) = match compiled.get() {
            Some(known) => known,
            None => {
                let (format, code) = source::compile(payload.code())?;
                format.check(code.as_bytes())?;
                // Another thread may have compiled it meanwhile.
                compiled.set((format, code))?
            }
        };
        Ok((*format, code.as_bytes()))
    }
}

impl Driver for Cuda {
    const KIND: &'static CStr = c"cuda";
    const LAYOUT: &'static Layout = &Layout::CUDA;
    const DEVICE_TYPE: i32 = kind::CUDA;

    type Code = Code;
    type Loaded = Module;
    type Kernel = Kernel;

    /// Compiles source immediately, for the devices of this machine if it has any.
    fn prepare(payload: &Payload) -> Result<Code> {
        let code = Cuda::prepare_created(payload)?;
        code.compiled(payload)?;
        Ok(code)
    }

    /// Leaves source uncompiled until a kernel is looked up: the machine that runs TVM's compiler
    /// may have neither a device nor NVRTC.
    fn prepare_created(payload: &Payload) -> Result<Code> {
        if payload.format() == b"cuda" {
            return Ok(Code::Source(SetOnce::new()));
        }
        let format = Format::parse(payload.format())?;
        format.check(payload.code())?;
        Ok(Code::Given(format))
    }

    fn make_ready(source: &Source<'_, Cuda>) -> Result<()> {
        source.code.compiled(source.payload).map(drop)
    }

    #[inline]
    fn current_device() -> Result<i32> {
        Ok(platform::current_device()?.id)
    }

    fn load(source: &Source<'_, Cuda>, device: i32) -> Result<Module> {
        let device = platform::device(device)?;
        let (format, code) = source.code.compiled(source.payload)?;
        Module::load(device, format, code)
    }

    fn load_kernel(
        source: &Source<'_, Cuda>,
        loaded: &Module,
        kernel: usize,
        _device: i32,
    ) -> Result<Kernel> {
        let described = &source.payload.kernels()[kernel];
        Kernel::new(loaded, source.payload.name_of(described), described)
    }

    #[inline]
    unsafe fn launch(kernel: &Kernel, device: i32, launch: &Launch<'_>) -> Result<()> {
        // SAFETY: the caller guarantees the values; `current_device` made the context current.
        unsafe { kernel.launch(device, launch) }
    }

    fn inspect_source<'a>(source: &Source<'a, Cuda>, format: &[u8]) -> &'a [u8] {
        let payload = source.payload;
        match (payload.format(), format, source.code) {
            (b"cuda" | b"ptx", b"", _) => payload.code(),
            (own, asked, _) if own == asked => payload.code(),
            (_, asked, Code::Source(compiled)) => match compiled.get() {
                Some((format, code)) if asked == format.name() => code.as_bytes(),
                _ => b"",
            },
            _ => b"",
        }
    }
}

// SAFETY: memory, streams, events and graphs are those of the driver, which checks device ids and
// is safe to call from several threads.
unsafe impl Backend for Cuda {
    fn device_type(&self) -> i32 {
        kind::CUDA
    }

    fn set_device(&self, id: i32) -> Result<()> {
        platform::device(id)?.make_current()
    }

    fn allocate(&self, id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void> {
        memory::allocate(platform::device(id)?, bytes, alignment)
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        if let Ok(device) = platform::device(id) {
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
        // SAFETY: the caller's promise.
        unsafe { memory::copy(from, to, bytes, stream) }
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { platform::device(id)?.synchronize(stream) }
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        if attribute == Attribute::Exists {
            return Ok(i64::from(platform::device(id).is_ok()).into());
        }
        platform::device(id)?.attribute(attribute)
    }

    fn create_stream(&self, id: i32) -> Result<*mut c_void> {
        stream::create(platform::device(id)?)
    }

    unsafe fn free_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { stream::free(platform::device(id)?, stream) }
    }

    unsafe fn order_streams(&self, id: i32, before: *mut c_void, after: *mut c_void) -> Result<()> {
        let device = platform::device(id)?;
        let _entered = device.enter()?;
        // SAFETY: the caller's promise.
        unsafe { order_streams(device, before, after) }
    }

    /// Does nothing: every launch reads the environment's stream.
    unsafe fn set_stream(&self, id: i32, _stream: *mut c_void) -> Result<()> {
        platform::device(id).map(drop)
    }

    fn create_event(&self, id: i32, timing: bool) -> Result<NonNull<c_void>> {
        let device = platform::device(id)?;
        let _entered = device.enter()?;
        device.create_event(timing)
    }

    unsafe fn free_event(&self, id: i32, event: NonNull<c_void>) {
        if let Ok(device) = platform::device(id) {
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
        let device = platform::device(id)?;
        let _entered = device.enter()?;
        // SAFETY: the caller's promise.
        unsafe { device.record(event, stream) }
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        let device = platform::device(id)?;
        let _entered = device.enter()?;
        // SAFETY: the caller's promise.
        unsafe { device.wait(event, stream) }
    }

    unsafe fn synchronize_event(&self, id: i32, event: NonNull<c_void>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { event::synchronize(platform::device(id)?, event) }
    }

    unsafe fn elapsed(
        &self,
        id: i32,
        start: NonNull<c_void>,
        end: NonNull<c_void>,
    ) -> Result<Option<Duration>> {
        // SAFETY: the caller's promise.
        unsafe { event::elapsed(platform::device(id)?, start, end) }
    }

    fn has_graphs(&self) -> bool {
        true
    }

    unsafe fn is_recording(&self, id: i32, stream: *mut c_void) -> Result<bool> {
        // SAFETY: the caller's promise.
        unsafe { graph::is_recording(platform::device(id)?, stream) }
    }

    unsafe fn record_graph(
        &self,
        id: i32,
        stream: *mut c_void,
        body: &mut dyn FnMut() -> Result<()>,
    ) -> Result<NonNull<c_void>> {
        // SAFETY: the caller's promise.
        unsafe { graph::record(platform::device(id)?, stream, body) }
    }

    unsafe fn launch_graph(
        &self,
        id: i32,
        graph: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { graph::launch(platform::device(id)?, graph, stream) }
    }

    unsafe fn free_graph(&self, id: i32, graph: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { graph::destroy(id, graph) };
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let device = platform::device(id)?;
        device.workspaces.allocate(device, bytes, stream::current(id))
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        platform::device(id)?.workspaces.free::<Device>(workspace, stream::current(id))
    }
}

// SAFETY: memory is that of the driver, and addressable by the CPU; there are no streams or events.
unsafe impl Backend for CudaHost {
    fn device_type(&self) -> i32 {
        kind::CUDA_HOST
    }

    fn set_device(&self, id: i32) -> Result<()> {
        Cuda.set_device(id)
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        memory::allocate_pinned(platform::device(id)?, bytes)
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        if let Ok(device) = platform::device(id) {
            // SAFETY: the caller's promise.
            unsafe { memory::free_pinned(device, data) };
        }
    }

    /// Returns an error: [`Cuda`] copies from and to devices, and the CPU back end within main
    /// memory.
    unsafe fn copy(
        &self,
        _from: Region,
        _to: Region,
        _bytes: usize,
        _stream: *mut c_void,
    ) -> Result<()> {
        plain_bail!(INTERNAL_ERROR, "A copy of CUDA needs memory of its devices")
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Cuda.synchronize(id, stream) }
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        Cuda.attribute(id, attribute)
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let data = self.allocate(id, bytes.max(1), 0)?;
        match NonNull::new(data) {
            Some(data) => Ok(data),
            None => plain_bail!(INTERNAL_ERROR, "The CUDA driver gave no memory"),
        }
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        let device = platform::device(id)?;
        // SAFETY: the caller's promise.
        unsafe { memory::free_pinned(device, workspace.as_ptr()) };
        Ok(())
    }
}
