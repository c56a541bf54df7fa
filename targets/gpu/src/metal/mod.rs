//! Metal back end: a library and a pipeline for each kernel, launched on command queues.
//!
//! | file | content |
//! |---|---|
//! | `code` | formats of modules, and the code of a kernel |
//! | `arguments` | validation of launch arguments and sizes |
//! | `aligned`, `copy` | aligned ranges, and copies |
//! | `apple` | devices, streams, buffers and pipelines of Apple's framework |
//! | `other` | the same interface on other systems, where there are no devices |

#[cfg(any(test, target_vendor = "apple"))]
mod aligned;
mod arguments;
mod code;
mod copy;
#[cfg_attr(target_vendor = "apple", path = "apple/mod.rs")]
#[cfg_attr(not(target_vendor = "apple"), path = "other.rs")]
mod platform;

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::ptr::NonNull;

use ferrite_alloc_ext::device::{Attribute, Backend, Region};
use ferrite_alloc_ext::env::stream;
use ferrite_core::Any;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;

use crate::driver::{Driver, Source};
use crate::launch::{Launch, Parameter};
use crate::payload::{Layout, Payload};

use code::{Code, Format};
use platform::{Device, Kernel};

/// The Metal back end.
pub struct Metal;

std::thread_local! {
    /// The calling thread's current device, on which it launches kernels.
    static CURRENT: Cell<i32> = const { Cell::new(0) };
}

/// Returns the stream of the calling thread; null is the default stream.
fn current_stream(id: i32) -> *mut c_void {
    stream::get(stream::DeviceKey::new(kind::METAL, id))
}

impl Driver for Metal {
    const KIND: &'static CStr = c"metal";
    const LAYOUT: &'static Layout = &Layout::METAL;
    const DEVICE_TYPE: i32 = kind::METAL;

    type Code = Format;
    /// Only the device, since each kernel has a separate library.
    type Loaded = &'static Device;
    type Kernel = Kernel;

    fn prepare(payload: &Payload) -> Result<Format> {
        let format = Format::parse(payload.format())?;
        for kernel in payload.kernels() {
            let name = payload.name_of(kernel);
            Code::new(format, name, payload.code_of(kernel))?;
            let types = kernel.parameters.iter().map(|dtype| Parameter::new(*dtype, 0));
            let handles =
                types.filter(|parameter| parameter.as_ref().is_ok_and(|it| it.is_handle())).count();
            arguments::check_buffers(name, handles, kernel.parameters.len() - handles)?;
        }
        Ok(format)
    }

    #[inline]
    fn current_device() -> Result<i32> {
        Ok(CURRENT.get())
    }

    fn load(_source: &Source<'_, Metal>, device: i32) -> Result<&'static Device> {
        platform::device(device)
    }

    fn load_kernel(
        source: &Source<'_, Metal>,
        loaded: &&'static Device,
        kernel: usize,
        _device: i32,
    ) -> Result<Kernel> {
        let kernel = &source.payload.kernels()[kernel];
        let name = source.payload.name_of(kernel);
        loaded.load(name, Code::new(*source.code, name, source.payload.code_of(kernel))?)
    }

    #[inline]
    unsafe fn launch(kernel: &Kernel, device: i32, launch: &Launch<'_>) -> Result<()> {
        crate::forks::check()?;
        arguments::check_sizes(launch, kernel.max_threads())?;
        // SAFETY: the caller guarantees the values.
        arguments::with_slots(launch, |slots| unsafe {
            kernel.launch(current_stream(device), launch, slots)
        })
    }

    fn inspect_source<'a>(_source: &Source<'a, Metal>, _format: &[u8]) -> &'a [u8] {
        b""
    }
}

// SAFETY: memory is an `MTLBuffer`, retained until it is freed; Metal allows these calls from
// several threads.
unsafe impl Backend for Metal {
    fn device_type(&self) -> i32 {
        kind::METAL
    }

    fn set_device(&self, id: i32) -> Result<()> {
        platform::device(id)?;
        CURRENT.set(id);
        Ok(())
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        platform::device(id)?.allocate(bytes).map(NonNull::as_ptr)
    }

    unsafe fn free(&self, id: i32, data: *mut c_void) {
        if let (Ok(device), Some(data)) = (platform::device(id), NonNull::new(data)) {
            // SAFETY: the caller's promise.
            unsafe { device.free(data) };
        }
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { copy::copy(from, to, bytes, stream) }
    }

    unsafe fn synchronize(&self, id: i32, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { platform::device(id)?.synchronize(stream) }
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        match platform::device(id) {
            Ok(device) => device.attribute(attribute),
            Err(_) if attribute == Attribute::Exists => Ok(0i64.into()),
            Err(error) => Err(error),
        }
    }

    fn create_stream(&self, id: i32) -> Result<*mut c_void> {
        platform::device(id)?.create_stream()
    }

    unsafe fn free_stream(&self, id: i32, stream: *mut c_void) -> Result<()> {
        let device = platform::device(id)?;
        if stream.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { device.free_stream(stream) }
    }

    unsafe fn order_streams(&self, id: i32, before: *mut c_void, after: *mut c_void) -> Result<()> {
        let device = platform::device(id)?;
        let event = device.create_event()?;
        // SAFETY: the caller guarantees the streams; queued commands retain the event.
        unsafe {
            let recorded = device.record_event(event, before);
            let ordered = recorded.and_then(|()| device.wait_for_event(event, after));
            platform::free_event(event);
            ordered
        }
    }

    /// Does nothing: each launch reads the environment's stream.
    unsafe fn set_stream(&self, id: i32, _stream: *mut c_void) -> Result<()> {
        platform::device(id).map(drop)
    }

    fn create_event(&self, id: i32, _timing: bool) -> Result<NonNull<c_void>> {
        platform::device(id)?.create_event()
    }

    unsafe fn free_event(&self, _id: i32, event: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { platform::free_event(event) };
    }

    unsafe fn record_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { platform::device(id)?.record_event(event, stream) }
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { platform::device(id)?.wait_for_event(event, stream) }
    }

    unsafe fn synchronize_event(&self, id: i32, event: NonNull<c_void>) -> Result<()> {
        platform::device(id)?;
        // SAFETY: the caller's promise.
        unsafe { platform::synchronize_event(event) }
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        platform::device(id)?.allocate_workspace(bytes, current_stream(id))
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        platform::device(id)?.free_workspace(workspace, current_stream(id))
    }
}
