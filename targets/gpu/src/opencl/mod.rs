//! OpenCL back end: modules of source or binaries, launched on one in-order queue per device.
//!
//! | file | content |
//! |---|---|
//! | `api` | functions of the driver |
//! | `platform`, `device` | selection of devices, and a device with its context and queue |
//! | `program`, `kernel` | built programs, and kernels |
//! | `memory` | buffers and copies |
//! | `event` | events, as markers in the queue |
//! | `code`, `precompiled` | the code of a module, and functions that save programs as binaries |
//! | `info`, `failure` | strings that the driver returns, and its errors |

mod api;
mod code;
mod device;
mod event;
mod failure;
mod info;
mod kernel;
mod memory;
mod platform;
mod precompiled;
mod program;

use core::cell::Cell;
use core::ffi::{CStr, c_void};
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{Attribute, Backend, Region};
use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, Function, plain_ensure};

use crate::driver::{Driver, Source};
use crate::launch::Launch;
use crate::opencl_source;
use crate::payload::{Layout, Payload};

use code::Precompiled;
use device::Device;
use event::Event;
use kernel::Kernel;
use program::Program;

pub use code::{Code, OpenCl};

std::thread_local! {
    /// The calling thread's current device, on which it launches kernels.
    static CURRENT: Cell<i32> = const { Cell::new(0) };
}

impl Driver for OpenCl {
    const KIND: &'static CStr = c"opencl";
    const LAYOUT: &'static Layout = &Layout::OPENCL;
    const DEVICE_TYPE: i32 = kind::OPENCL;

    type Code = Code;
    /// Program of a binary; `None` for source, where each kernel has its own program.
    type Loaded = Option<Program>;
    type Kernel = Kernel;

    fn prepare(payload: &Payload) -> Result<Code> {
        let format = payload.format();
        plain_ensure!(
            matches!(format, b"cl" | b"xclbin" | b"awsxclbin" | b"aocx"),
            INTERNAL_ERROR,
            "Unknown OpenCL format {}",
            format
        );
        let programs = if format == b"cl" { Some(opencl_source::split(payload)?) } else { None };
        Ok(Code { programs, precompiled: Precompiled::new(payload.kernels().len())? })
    }

    fn current_device() -> Result<i32> {
        Ok(CURRENT.get())
    }

    fn load(source: &Source<'_, OpenCl>, device: i32) -> Result<Option<Program>> {
        let device = platform::device(device)?;
        match source.code.programs {
            Some(_) => Ok(None),
            None => Program::from_binary(device, source.payload.code()).map(Some),
        }
    }

    fn load_kernel(
        source: &Source<'_, OpenCl>,
        loaded: &Option<Program>,
        kernel: usize,
        device_id: i32,
    ) -> Result<Kernel> {
        let device = platform::device(device_id)?;
        let name = source.payload.name_of(&source.payload.kernels()[kernel]);
        let program = match (loaded, &source.code.programs) {
            (Some(program), _) => program.share(),
            (None, Some(programs)) => match source.code.precompiled.get(kernel, device_id) {
                Some(binary) => Program::from_binary(device, binary.as_bytes())?,
                None => {
                    Program::from_source(device, &source.payload.code()[programs[kernel].clone()])?
                }
            },
            (None, None) => Program::from_binary(device, source.payload.code())?,
        };
        Kernel::new(device, program, name)
    }

    #[inline]
    unsafe fn launch(kernel: &Kernel, _device: i32, launch: &Launch<'_>) -> Result<()> {
        // SAFETY: the caller guarantees the values.
        unsafe { kernel.launch(launch) }
    }

    fn method(module: &Module, _: &Source<'_, OpenCl>, name: &[u8]) -> Result<Option<Function>> {
        precompiled::method(module, name)
    }

    fn inspect_source<'a>(source: &Source<'a, OpenCl>, format: &[u8]) -> &'a [u8] {
        if format.is_empty() && source.payload.format() == b"cl" {
            source.payload.code()
        } else {
            b""
        }
    }
}

// SAFETY: memory is a `cl_mem`, retained until it is freed; OpenCL allows these calls from several
// threads.
unsafe impl Backend for OpenCl {
    fn device_type(&self) -> i32 {
        kind::OPENCL
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
        memory::trim(platform::device(id)?).map(drop)
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
        platform::device(id)?.finish()
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        if attribute == Attribute::Exists {
            return Ok(i64::from(platform::device(id).is_ok()).into());
        }
        platform::device(id)?.attribute(attribute)
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
        unsafe { Event::from_handle(event) }.record()
    }

    unsafe fn wait_for_event(
        &self,
        id: i32,
        event: NonNull<c_void>,
        stream: *mut c_void,
    ) -> Result<()> {
        only_default(stream)?;
        // SAFETY: the caller's promise.
        unsafe { Event::from_handle(event) }.hold_back(platform::device(id)?)
    }

    unsafe fn synchronize_event(&self, _id: i32, event: NonNull<c_void>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { Event::from_handle(event) }.synchronize()
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        let device = platform::device(id)?;
        device.workspaces.allocate(device, bytes, ptr::null_mut())
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        platform::device(id)?.workspaces.free::<Device>(workspace, ptr::null_mut())
    }
}

/// Returns an error for streams other than the default one, since each device has only one queue.
fn only_default(stream: *mut c_void) -> Result<()> {
    plain_ensure!(
        stream.is_null(),
        RUNTIME_ERROR,
        "Devices opencl have no streams beside the default one"
    );
    Ok(())
}
