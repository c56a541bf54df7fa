//! WebGPU devices and modules. JavaScript has the device: tvmjs registers the functions by which
//! they are used, when a page calls `initWebGPU`.
//!
//! A page cannot wait in the middle of a call. So uploads are only queued, and the bytes of a read
//! back arrive before the page's `await device.sync()` ends, or `sync` fails with the error of the
//! last read back.
//!
//! # Upstream
//! `web/emcc/webgpu_runtime.cc` of Apache TVM.

mod api;
mod module;

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::{Attribute, Backend, Region, is_main_memory};
use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::platform::sync::Mutex;
use ferrite_core::value::convert::OpaquePtr;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, AnyView, Function, plain_ensure};
use ferrite_gpu::workspace::{DeviceMemory, Workspaces};

use api::Operation;
pub use module::load;

/// The back end of the page's WebGPU device.
pub struct WebGpu;

static WORKSPACES: Workspaces = Workspaces::new();

/// The owner of the target of the last read back, until the next one.
static LAST_TARGET: Mutex<Option<Any>> = Mutex::new(None);

/// Passes the owner of the last target to JavaScript, in a callback that JavaScript releases when
/// the device has completed all commands so far.
///
/// JavaScript waits for the last read back once: for the page or for this callback. So this is
/// called before the next read back, and the page's wait gets its error, such as a lost device.
fn release_last_target() -> Result<()> {
    let Some(owner) = LAST_TARGET.with_mut(|last| last.clone()) else { return Ok(()) };
    let wait = api::registered("__async.wasm.WebGPUWaitForTasks", api::NO_WEBGPU)?;
    let callback = Function::from_packed(move |_| {
        let _ = &owner;
        Ok(Any::NONE)
    })?;
    wait.call_packed(&[AnyView::from(&callback)])?;
    let released = LAST_TARGET.with_mut(Option::take);
    drop(released);
    Ok(())
}

/// Checks a device id: a page has one device.
fn check(id: i32) -> Result<()> {
    plain_ensure!(id == 0, VALUE_ERROR, "There is no device webgpu:{}", id);
    Ok(())
}

/// Returns the value of an offset or a size as an argument of JavaScript.
fn number(value: usize) -> AnyView<'static> {
    AnyView::from(value as i64)
}

// SAFETY: memory is a buffer of JavaScript until it is freed. A copy to the device has read main
// memory when it returns.
unsafe impl Backend for WebGpu {
    fn device_type(&self) -> i32 {
        kind::WEB_GPU
    }

    fn set_device(&self, id: i32) -> Result<()> {
        check(id)
    }

    fn allocate(&self, id: i32, bytes: usize, _alignment: usize) -> Result<*mut c_void> {
        check(id)?;
        DeviceMemory::allocate(self, bytes).map(NonNull::as_ptr)
    }

    unsafe fn free(&self, _id: i32, data: *mut c_void) {
        if let Some(data) = NonNull::new(data) {
            // SAFETY: the caller's promise.
            unsafe { DeviceMemory::free(self, data) };
        }
    }

    unsafe fn copy(
        &self,
        from: Region,
        to: Region,
        bytes: usize,
        _stream: *mut c_void,
    ) -> Result<()> {
        let is_main = |region: Region| is_main_memory(region.device.device_type);
        // SAFETY: the caller guarantees the regions until the copy is complete. A buffer's number
        // is not followed.
        let pointer = |region: Region| unsafe {
            let offset = if is_main(region) { region.offset } else { 0 };
            OpaquePtr::new(region.data.wrapping_byte_add(offset))
        };
        let (source, target) = (pointer(from), pointer(to));
        let (source, target) = (AnyView::from(&source), AnyView::from(&target));
        let [source_offset, target_offset, bytes] = [from.offset, to.offset, bytes].map(number);
        let copied = match (is_main(from), is_main(to)) {
            (true, _) => Operation::Upload.call(&[source, target, target_offset, bytes]),
            (_, true) => {
                release_last_target()?;
                Operation::Read.call(&[source, source_offset, target, bytes])
            }
            _ => Operation::Copy.call(&[source, source_offset, target, target_offset, bytes]),
        };
        copied.map(drop)
    }

    /// Suspends the module, if it was linked with asyncify and the page's call can be suspended.
    unsafe fn synchronize(&self, id: i32, _stream: *mut c_void) -> Result<()> {
        check(id)?;
        api::registered(
            "__asyncify.WebGPUWaitForTasks",
            "A web page cannot wait for WebGPU in a call: await the device's sync",
        )?
        .call_packed(&[])
        .map(drop)
    }

    fn can_wait(&self) -> bool {
        false
    }

    fn keep_until_copied(&self, id: i32, owner: Any) -> Result<()> {
        check(id)?;
        let previous = LAST_TARGET.with_mut(|last| last.replace(owner));
        // Releases it outside of the lock.
        drop(previous);
        Ok(())
    }

    fn attribute(&self, id: i32, attribute: Attribute) -> Result<Any> {
        Ok(match attribute {
            Attribute::Exists => i64::from(id == 0 && api::is_there()?).into(),
            _ => Any::NONE,
        })
    }

    fn allocate_workspace(&self, id: i32, bytes: usize) -> Result<NonNull<c_void>> {
        check(id)?;
        WORKSPACES.allocate(self, bytes, ptr::null_mut())
    }

    unsafe fn free_workspace(&self, id: i32, workspace: NonNull<c_void>) -> Result<()> {
        check(id)?;
        WORKSPACES.free::<WebGpu>(workspace, ptr::null_mut())
    }
}

impl DeviceMemory for WebGpu {
    const NAME: &'static str = "webgpu";

    /// Creates a buffer of JavaScript. The address is the number of the buffer.
    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        // JavaScript's numbers arrive as floats.
        let buffer: f64 = Operation::Allocate.call(&[number(bytes)])?.get()?;
        NonNull::new(ptr::without_provenance_mut(buffer as usize))
            .ok_or_else(|| out_of_memory(bytes))
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        // SAFETY: JavaScript does not follow the number of a buffer.
        let buffer = unsafe { OpaquePtr::new(memory.as_ptr()) };
        // The device may be lost, which the next command reports.
        let _ = Operation::Free.call(&[AnyView::from(&buffer)]);
    }
}
